/** A configured address that cannot be listened on: the command ends with exit code 3 and this one line. */

/** The system's codes in words, with what to do. */
const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is already taken: stop what listens there, or choose another address',
  EADDRNOTAVAIL: 'is no address of this machine: expected one of its own, such as 127.0.0.1, or 0.0.0.0 for all of them',
  EACCES: 'may not be listened on by this user: choose a port above 1023',
  ENOTFOUND: 'names no host that is known here: expected an address of this machine, such as 127.0.0.1',
  EAFNOSUPPORT: 'is of a family this machine does not speak: expected one of its own, such as 127.0.0.1',
}

export class PortTaken extends Error {
  override readonly name = 'PortTaken'
  /** `127.0.0.1:8475` */
  readonly address: string
  /** The configuration key that names it, e.g. `admin.listen`. */
  readonly key: string

  /** `code`: the system's, e.g. `EADDRINUSE`. */
  constructor({ address, key, code = 'EADDRINUSE' }: { address: string; key: string; code?: string }) {
    super(`${key}: ${address} ${WHY[code] ?? `cannot be listened on (${code}): check the host and port, or choose another address`}`)
    this.address = address
    this.key = key
  }
}
