/** Which events a fault means: all of a kind, or the n-th of it. */
import { meaningOf } from '../core/meaning.ts'
import type { EventMark } from '../core/signal.ts'
import { oneOf } from '../hops/shape.ts'

export const eventWord = oneOf('progress', 'comments', 'result', 'event')
export type EventWord = 'progress' | 'comments' | 'result' | 'event'

/** Answers for each event in turn whether it is meant. `event`: anything with data. */
export function eventPicker(what: EventWord, nth: number | null): (mark: EventMark) => boolean {
  let seen = 0
  return (mark) => {
    if (!isKind(mark, what)) return false
    seen += 1
    return nth === null || seen === nth
  }
}

function isKind(mark: EventMark, what: EventWord): boolean {
  const { is } = meaningOf(mark)
  if (what === 'event') return is !== 'comment'
  return is === (what === 'comments' ? 'comment' : what)
}
