/** Reads the request that was told as its bytes. */
import type { Fact, Told } from './fact.ts'
import { readAsk } from './mcp/ask.ts'

export function factOf(told: Told): Fact {
  if (told.kind !== 'unread') return told
  const { atMs, head, body, trace } = told
  const ask = readAsk(head, body)
  if (trace === null) return { kind: 'understood', atMs, ask }
  return { kind: 'understood', atMs, ask, traceId: trace.traceId, spanId: trace.spanId }
}
