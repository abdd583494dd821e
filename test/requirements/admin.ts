/** What the admin port promises. */

export const adminRequirements = {
  'admin.rebinding-refused':
    'A browser that reached the port by a name an attacker owns (Host: evil.example) can read and change nothing, on WebSocket too',
  'admin.other-origin-refused': 'A page of another origin can read and change nothing; no CORS header is ever sent, on WebSocket too',
  'admin.bearer': 'With a token all but /healthz and /readyz need Authorization: Bearer; guessing is slowed',
  'admin.problem-json': 'Errors are application/problem+json and name the key',
  'admin.not-found-and-method': 'An unknown path is 404, a wrong method 405 with Allow',
  'admin.body-limit': 'A body over 1 MiB is refused with 413, one that does not end in time with 408',
  'admin.rate-limit': 'Requests beyond the rate are answered 429; what takes faults away is not counted',
  'admin.health': '/healthz answers while the process lives; /readyz follows listening and draining',
  'admin.metrics-by-accept': '/metrics hands the Accept header on to the renderer and answers with its content type',
  'admin.calls': 'GET /api/v1/calls[?open=true] and /calls/{id} answer records',
  'admin.work-message': 'POST /api/v1/work takes a probe message: 202, or 400 with what is wrong',
  'admin.openapi': '/api/v1/openapi.json is an OpenAPI 3.1 document with every route',
  'admin.port-taken': 'A taken port is one line that names the key and the address',
  'admin.metrics-port': 'The metrics port answers /metrics, /healthz, /readyz and GET /drain without a token, and nothing else',
  'admin.survives': 'A route that throws is a 500 without internals; broken sockets do not end the process',
  'admin.faults': 'GET, POST, PATCH and DELETE of faults; each shows its origin, its end, and how often it matched and acted',
  'admin.path': 'GET, PUT and DELETE of the path, with for; a wrong hop is a problem that names its key',
  'admin.stop': 'stop and resume answer at once, and are never refused for their rate',
  'admin.cut': 'cut takes filters or all: true, and answers how many',
} as const
