/** What is told as bytes: a request is read as the fact that it is, and how long the reading of what is told may take. */
import type { Fact, Told } from './fact.ts'
import { readAsk } from './mcp/ask.ts'

/** Bytes that are read in the time of a fact without any, some 10 us. */
const BYTES_OF_ONE = 2_048

/** As how many facts it counts. */
export function weightOf(told: Told): number {
  const bytes = told.kind === 'unread' ? told.body : told.kind === 'json' ? told.bytes : null
  return bytes === null ? 1 : 1 + Math.floor(bytes.length / BYTES_OF_ONE)
}

export function factOf(told: Told): Fact {
  if (told.kind !== 'unread') return told
  const { atMs, head, body, trace } = told
  const ask = readAsk(head, body)
  if (trace === null) return { kind: 'understood', atMs, ask }
  return { kind: 'understood', atMs, ask, traceId: trace.traceId, spanId: trace.spanId }
}
