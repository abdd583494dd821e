/** What an SSE event says, read from its mark only when somebody asks, and then once. */
import { textOfBytes } from './mcp/json-text.ts'
import type { Found } from './mcp/raw-json.ts'
import { findIn, idOf, isRaw, isThere, numberOf, shapeOf, slotOf, stringOf } from './mcp/raw-json.ts'
import type { EventMark } from './signal.ts'

/** `tool_error`: a result with `isError`; `protocol_error`: a JSON-RPC error. */
export type ResultOutcome = 'ok' | 'tool_error' | 'protocol_error'

export interface ResultMeaning {
  readonly is: 'result'
  /** Raw JSON text; null where the server could not tell which request it answers. */
  readonly id: string | null
  readonly outcome: ResultOutcome
  /** The answer is a task: the work goes on elsewhere. */
  readonly isTask: boolean
  /** Of a task: which, and how it stands (`working`, `completed`, …). */
  readonly taskId: string | null
  readonly status: string | null
  /** What an `initialize` agreed on. */
  readonly revision: string | null
  /** The header that a server of 2026-07-28 found to differ from the body. */
  readonly mismatch: string | null
  /** The other answers of a batch in the same message. */
  readonly also: readonly ResultMeaning[]
}

export type Meaning = { /** The event's own id, where it has one: a client may resume after it. */ readonly eventId?: string } & (
  | { readonly is: 'comment' } // no data: nothing is dispatched
  /** `value`: null where it is no number. */
  | { readonly is: 'progress'; readonly token: string | null; readonly value: number | null }
  | ResultMeaning
  | { readonly is: 'request' }
  | { readonly is: 'notification'; readonly method: string }
  | { readonly is: 'other' }
)

const WANTED = {
  id: {},
  method: {},
  result: { isError: {}, resultType: {}, taskId: {}, status: {}, task: { taskId: {}, status: {} }, protocolVersion: {} },
  error: { code: {}, data: { mismatch: { header: {} } } },
  params: { progressToken: {}, progress: {} },
}
const SHAPE = shapeOf(WANTED)
const [ID, METHOD, RESULT, ERROR] = [slotOf(SHAPE, 'id'), slotOf(SHAPE, 'method'), slotOf(SHAPE, 'result'), slotOf(SHAPE, 'error')]
const [TOKEN, PROGRESS] = [slotOf(SHAPE, 'params', 'progressToken'), slotOf(SHAPE, 'params', 'progress')]
const ofResult = (...names: readonly string[]): number => slotOf(SHAPE, 'result', ...names)
const [IS_ERROR, RESULT_TYPE, REVISION] = [ofResult('isError'), ofResult('resultType'), ofResult('protocolVersion')]
const [TASK_ID, STATUS] = [ofResult('taskId'), ofResult('status')]
const [TASK, TASK_TASK_ID, TASK_STATUS] = [ofResult('task'), ofResult('task', 'taskId'), ofResult('task', 'status')]
const [CODE, MISMATCHED] = [slotOf(SHAPE, 'error', 'code'), slotOf(SHAPE, 'error', 'data', 'mismatch', 'header')]
const COMMENT: Meaning = { is: 'comment' }
const OTHER: Meaning = { is: 'other' }
const REQUEST: Meaning = { is: 'request' }
const NO_RESULTS: readonly ResultMeaning[] = []
const PLAIN_RESULT: ResultMeaning = {
  ...{ is: 'result', id: null, outcome: 'ok', isTask: false, taskId: null, status: null, revision: null, mismatch: null, also: NO_RESULTS },
}

export function meaningOf(mark: EventMark): Meaning {
  mark.meaning ??= mark.isTooLong ? OTHER : readEvent(wholeOf(mark))
  return mark.meaning
}

export const isEvent = (mark: EventMark): boolean => meaningOf(mark).is !== 'comment'

/** The event's data; null where it has none. */
export function dataOf(mark: EventMark): string | null {
  const { data } = fieldsOf(wholeOf(mark))
  return data === null ? null : new TextDecoder().decode(data)
}

/** A JSON answer's meaning. */
export const meaningOfJson = (json: Uint8Array): Meaning => readMessage(json, json.length)

const wholeOf = ({ earlier, bytes }: EventMark): Uint8Array => (earlier === null ? bytes : concat([...earlier, bytes]))

function readEvent(bytes: Uint8Array): Meaning {
  const { data, type, id } = fieldsOf(bytes)
  // Clients take only events without a type, or of type `message`, for messages.
  const meaning = data === null ? COMMENT : type === '' || type === 'message' ? readMessage(data, data.length) : OTHER
  return id === null ? meaning : withEventId(meaning, textOfBytes(id))
}

/** Those without further words are shared by all events that say so. */
function withEventId(meaning: Meaning, eventId: string): Meaning {
  if (meaning === COMMENT || meaning === OTHER || meaning === REQUEST) return { ...meaning, eventId }
  return Object.assign(meaning, { eventId })
}

/** Where an HTTP+SSE server of 2024-11-05 wants its messages; null where the event does not say. */
export function endpointOf(mark: EventMark): string | null {
  if (mark.isTooLong) return null
  const { data, type } = fieldsOf(wholeOf(mark))
  return data !== null && type === 'endpoint' ? textOfBytes(data).trim() : null
}

function readMessage(bytes: Uint8Array, length: number): Meaning {
  const found = findIn(bytes, length, SHAPE)
  const [only] = found ?? []
  if (found === null || only === undefined) return OTHER
  if (found === SHAPE.lentAlone) return readOne(bytes, only)
  const [first, ...also] = found.map((element) => readOne(bytes, element)).filter((meaning) => meaning.is === 'result')
  return first === undefined ? OTHER : { ...first, also }
}

function readOne(bytes: Uint8Array, found: Found): Meaning {
  const method = stringOf(bytes, found, METHOD)
  if (method === 'notifications/progress') {
    return { is: 'progress', token: idOf(bytes, found, TOKEN), value: numberOf(bytes, found, PROGRESS) }
  }
  if (method !== null) return isThere(found, ID) ? REQUEST : { is: 'notification', method }
  return isThere(found, RESULT) ? readResult(bytes, found) : isThere(found, ERROR) ? readError(bytes, found) : OTHER
}

function readError(bytes: Uint8Array, found: Found): ResultMeaning {
  const isMismatch = numberOf(bytes, found, CODE) === HEADER_MISMATCH
  const mismatch = isMismatch ? (stringOf(bytes, found, MISMATCHED) ?? '') : null
  return { ...PLAIN_RESULT, id: idOf(bytes, found, ID), outcome: 'protocol_error', mismatch }
}

function readResult(bytes: Uint8Array, found: Found): ResultMeaning {
  const hasTask = isThere(found, TASK)
  const isError = isRaw(bytes, found, IS_ERROR, 'true')
  return {
    is: 'result',
    id: idOf(bytes, found, ID),
    outcome: isError ? 'tool_error' : 'ok',
    isTask: stringOf(bytes, found, RESULT_TYPE) === 'task' || (hasTask && isThere(found, TASK_TASK_ID)),
    taskId: stringOf(bytes, found, hasTask ? TASK_TASK_ID : TASK_ID),
    status: stringOf(bytes, found, hasTask ? TASK_STATUS : STATUS),
    revision: stringOf(bytes, found, REVISION),
    mismatch: null,
    also: NO_RESULTS,
  }
}

/** The code of a HeaderMismatch error. */
const HEADER_MISMATCH = -32020

const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
const SPACE = 0x20
const DATA_FIELD = [0x64, 0x61, 0x74, 0x61]
const EVENT_FIELD = [0x65, 0x76, 0x65, 0x6e, 0x74]
const ID_FIELD = [0x69, 0x64]

interface Fields {
  readonly data: Uint8Array | null
  readonly type: string
  /** The last event id set; null where none is. */
  readonly id: Uint8Array | null
}

/** Usually there is one data line, which is given without a copy. */
function fieldsOf(bytes: Uint8Array): Fields {
  let data: Uint8Array | null = null
  let more: Uint8Array[] | null = null
  let type = ''
  let id: Uint8Array | null = null
  let crAt = -2 // the next CR, looked for once: most streams have none
  let start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  while (start < bytes.length) {
    if (crAt !== -1 && crAt < start) crAt = bytes.indexOf(CR, start)
    const lfAt = bytes.indexOf(LF, start)
    const end = crAt === -1 ? lfAt : lfAt === -1 ? crAt : Math.min(lfAt, crAt)
    const until = end === -1 ? bytes.length : end
    const value = fieldValueOf(bytes, start, until, DATA_FIELD)
    if (value !== null) {
      if (data === null) data = value
      else if (more === null) more = [data, value]
      else more.push(value)
    } else {
      const name = bytes[start] === EVENT_FIELD[0] ? fieldValueOf(bytes, start, until, EVENT_FIELD) : null
      if (name !== null) type = textOfBytes(name)
      else if (bytes[start] === ID_FIELD[0]) id = fieldValueOf(bytes, start, until, ID_FIELD) ?? id
    }
    start = until + 1
  }
  return { data: more === null ? data : joined(more), type, id }
}

/** What a line `[start, until)` gives the field `name`, or null where it is another's. */
function fieldValueOf(bytes: Uint8Array, start: number, until: number, name: readonly number[]): Uint8Array | null {
  for (let index = 0; index < name.length; index += 1) if (bytes[start + index] !== name[index]) return null
  const at = start + name.length
  if (at > until) return null
  if (at === until) return bytes.subarray(at, until)
  if (bytes[at] !== COLON) return null
  return bytes.subarray(bytes[at + 1] === SPACE && at + 1 < until ? at + 2 : at + 1, until)
}

const joined = (lines: readonly Uint8Array[]): Uint8Array =>
  concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Uint8Array.of(LF), line])))

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
