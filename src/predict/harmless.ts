/** Paths that a recording cannot disturb, told without a replay: most calls are well within most limits. */
import { isNoBuffer } from '../hops/buffer.ts'
import type { Hop } from '../hops/hop.ts'
import type { Longest } from './recording-changes.ts'

/** Never true where a replay would show a cut, or anything but the server's own answer. `longest` is of a recording that ends well. */
export const isHarmless = (hops: readonly Hop[], longest: Longest): boolean => hops.every((hop) => isHarmlessHop(hop, longest))

function isHarmlessHop({ headers, idle, total, buffering, request }: Hop, longest: Longest): boolean {
  if (buffering !== undefined && !isNoBuffer(buffering)) return false
  if (request !== undefined && longest.requestBytes > (request.bodyMaxBytes ?? Infinity)) return false
  if (headers !== undefined && headers !== 'none' && longest.headers >= headers.afterMs) return false
  if (total !== undefined && longest.total >= total.afterMs) return false
  return idle === undefined || (idle.counts === 'bytes' && longest.idle + idle.rearmMs < idle.afterMs && longest.ask < idle.afterMs)
}
