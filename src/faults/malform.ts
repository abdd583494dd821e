/** Spoils events without changing their length: their JSON, or the name of their data field. */
import { concat } from '../core/meaning.ts'
import type { Out, Seat, SeatPlan } from '../core/seat.ts'
import { oneOf, strict } from '../hops/shape.ts'
import { fired, shapeOf } from './body-shape.ts'
import { editEvents } from './event-edit.ts'
import { eventPicker } from './event-picker.ts'
import { faultKind, seat } from './fault.ts'
import { nth } from './fault-values.ts'
import { createWholeBody } from './whole-body.ts'

export interface MalformAsked {
  readonly what: 'json' | 'field'
  readonly nth: number | null
}

export function malform(name: string, { what, nth }: MalformAsked): SeatPlan {
  return {
    name,
    sit(out) {
      const events = editEvents(out, eventPicker('event', nth), ({ parts }) => {
        const bytes = spoiled(concat(parts.map((part) => part.bytes)), what)
        out.toClient({ is: 'piece', bytes, mark: { earlier: null, bytes, isTooLong: false } })
      })
      return what === 'json' && (nth ?? 1) === 1 ? orPlain(out, events) : events
    },
  }
}

/** A body without events is one message. */
function orPlain(out: Out, events: Seat): Seat {
  let isPlain = false
  let endSignal: Parameters<NonNullable<Seat['fromServer']>>[0] | null = null
  const body = createWholeBody(out, (bytes) => {
    const at = bytes.findIndex((byte) => byte > SPACE)
    if (at === -1 || endSignal === null) return false
    fired(out)
    const copy = new Uint8Array(bytes)
    spoilJsonAt(copy, at)
    out.toClient({ is: 'piece', bytes: copy, mark: null })
    out.toClient(endSignal)
    return true
  })
  return {
    fromServer(signal, atMs) {
      if (signal.is === 'head') {
        isPlain = shapeOf(signal.rawHeaders) === 'plain'
        if (isPlain) return out.toClient(signal)
      }
      if (!isPlain || signal.is === 'head') return events.fromServer?.(signal, atMs)
      endSignal = signal
      body.take(signal)
    },
    release(atMs) {
      events.release?.(atMs)
      body.flush()
    },
    heldBytes: () => (events.heldBytes?.() ?? 0) + body.heldBytes(),
  }
}

const [LF, CR, SPACE, COLON] = [0x0a, 0x0d, 0x20, 0x3a]
const [OPEN_BRACE, OPEN_BRACKET, UNDERSCORE] = [0x7b, 0x5b, 0x5f]

/** A copy of the event with one byte changed: in the first data line, the value's first or the field name's last. */
function spoiled(event: Uint8Array, what: 'json' | 'field'): Uint8Array {
  const bytes = new Uint8Array(event)
  const at = firstDataLine(bytes)
  if (at === -1) return bytes
  if (what === 'field') {
    bytes[at + 3] = UNDERSCORE
    return bytes
  }
  const colon = at + 4
  if (bytes[colon] !== COLON) return bytes
  const value = bytes[colon + 1] === SPACE ? colon + 2 : colon + 1
  if (bytes[value] !== LF && bytes[value] !== CR && value < bytes.length) spoilJsonAt(bytes, value)
  return bytes
}

function spoilJsonAt(bytes: Uint8Array, at: number): void {
  bytes[at] = bytes[at] === OPEN_BRACE ? OPEN_BRACKET : OPEN_BRACE
}

function firstDataLine(bytes: Uint8Array): number {
  let isLineStart = true
  for (const [index, byte] of bytes.entries()) {
    const after = bytes[index + 4]
    const isData = byte === 0x64 && bytes[index + 1] === 0x61 && bytes[index + 2] === 0x74 && bytes[index + 3] === 0x61
    if (isLineStart && isData && (after === COLON || after === LF || after === CR)) return index
    isLineStart = byte === LF || byte === CR
  }
  return -1
}

export const malformFault = faultKind({
  key: 'malform',
  docs: 'Spoils events, lengths unchanged: `json` makes their data no JSON (also a JSON answer), `field` misspells the SSE field `data`.',
  at: 'server',
  schema: strict({ what: oneOf('json', 'field'), nth: nth.optional() }),
  deed: (name, asked) => seat(malform(name, { what: asked.what, nth: asked.nth ?? null })),
})
