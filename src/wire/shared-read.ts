/** One buffer that all plain connections to the server are read into: Node would allocate 64 KB for each read, whatever came. */
import type { OnReadOpts, Socket } from 'node:net'

/** As much as Node reads at once. */
const READ_BYTES_MAX = 65_536
const shared = Buffer.allocUnsafeSlow(READ_BYTES_MAX)

/**
 * For `net.connect`. The socket emits `data` as ever, but what it emits is gone with the return: Node's HTTP parser copies what it tells of a body.
 * Not for a socket that is handed on, for who has it next may keep what was read, or read before it listens.
 */
export const SHARED_READ: OnReadOpts = {
  buffer: shared,
  callback(this: unknown, bytes) {
    ;(this as Socket).emit('data', shared.subarray(0, bytes))
    return true
  },
}
