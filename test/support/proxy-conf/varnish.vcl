# Limits of 1 s; every request is passed, none is answered from memory.
vcl 4.1;
backend scripted { .host = "127.0.0.1"; .port = "{{upstream}}"; .first_byte_timeout = 1s; .between_bytes_timeout = 1s; }
backend refused { .host = "127.0.0.1"; .port = "{{refused}}"; }
sub vcl_recv {
  if (req.url ~ "^/refused") { set req.backend_hint = refused; }
  return (pass);
}
