/** Random bytes as hex, drawn from the system many at a time: a call for each id would cost more than the id. */
import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4_096)
let used = pool.length

/** At most 4,096 bytes; each is given once. */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.toString('hex', used - bytes, used)
}
