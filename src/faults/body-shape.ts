/** What a fault may see of a body, and how it says that it cannot act on this one. */
import type { Out } from '../core/seat.ts'
import type { RawHeaders } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'
import { bodyHasEvents } from '../core/sse-scanner.ts'

/** `plain`: readable, yet one whole; `encoded`: neither events nor text can be told from its bytes. */
export type BodyShape = 'events' | 'plain' | 'encoded'

export function shapeOf(rawHeaders: RawHeaders): BodyShape {
  if (bodyHasEvents(rawHeaders)) return 'events'
  return headerOf(rawHeaders, 'content-encoding') === null ? 'plain' : 'encoded'
}

/** Why a fault on events leaves such a body alone. */
export const whyNoEvents = (shape: 'plain' | 'encoded'): string =>
  shape === 'encoded' ? 'the body is encoded: its events cannot be seen' : 'the body is no event stream'

/** It says why and leaves the line: the body passes untouched. */
export function skip(out: Out, why: string): void {
  out.note({ is: 'decided', what: 'skipped', why })
  out.leave()
}

export const fired = (out: Out): void => out.note({ is: 'decided', what: 'fired' })
