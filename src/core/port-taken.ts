/** A configured address that cannot be listened on: the command ends with exit code 3 and this one line. */

export class PortTaken extends Error {
  override readonly name = 'PortTaken'
  /** `127.0.0.1:8475` */
  readonly address: string
  /** The configuration key that names it, e.g. `admin.listen`. */
  readonly key: string

  /** `code`: the system's, e.g. `EADDRINUSE`. */
  constructor({ address, key, code = 'EADDRINUSE' }: { address: string; key: string; code?: string }) {
    const why =
      code === 'EADDRINUSE' ? 'is already taken: stop what listens there' : `cannot be listened on (${code}): check the host and port`
    super(`${key}: ${address} ${why}, or choose another address`)
    this.address = address
    this.key = key
  }
}
