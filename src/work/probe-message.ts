/** What a probe says, in any language: one JSON object per message, over POST or WebSocket. */
import { z } from 'zod'
import { parseTraceparent } from '../core/trace-context.ts'

const probeMessage = z.object({
  event: z.enum(['start', 'end', 'abort']),
  traceparent: z.string(),
  /** The JSON-RPC id as the request had it. */
  requestId: z.union([z.string(), z.number()]).nullish(),
  /** Unix milliseconds; absent: now. */
  at: z.number().nullish(),
  outcome: z.enum(['ok', 'error', 'aborted']).nullish(),
})

export interface ProbeMessage {
  readonly event: 'start' | 'end' | 'abort'
  readonly traceId: string
  readonly spanId: string
  /** Text without quotes; null: not said. */
  readonly requestId: string | null
  readonly atWallMs: number | null
  readonly outcome: 'ok' | 'error' | 'aborted' | null
}

export type ReadProbeMessage =
  | { readonly is: 'message'; readonly message: ProbeMessage }
  | { readonly is: 'problem'; readonly problem: string }

const EXPECTED: Readonly<Record<string, string>> = {
  event: '"start", "end" or "abort"',
  traceparent: 'a W3C traceparent such as "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"',
  requestId: 'the JSON-RPC id, a string or a number',
  at: 'Unix milliseconds',
  outcome: '"ok", "error" or "aborted"',
}

/** Reads one message; a problem names the key, what was expected, and what came. Keys it does not know are ignored. */
export function readProbeMessage(json: unknown): ReadProbeMessage {
  const read = probeMessage.safeParse(json)
  if (!read.success) return problemAt(String(read.error.issues[0]?.path[0] ?? ''), json)
  const { event, requestId, at, outcome } = read.data
  const context = parseTraceparent(read.data.traceparent)
  if (context === null) return problemAt('traceparent', json)
  return {
    is: 'message',
    message: {
      event,
      traceId: context.traceId,
      spanId: context.spanId,
      requestId: requestId === undefined || requestId === null ? null : String(requestId),
      atWallMs: at ?? null,
      outcome: event === 'start' ? null : (outcome ?? (event === 'abort' ? 'aborted' : 'ok')),
    },
  }
}

function problemAt(key: string, json: unknown): ReadProbeMessage {
  const expected = EXPECTED[key]
  if (expected === undefined) return { is: 'problem', problem: 'expected a JSON object with "event" and "traceparent"' }
  const got = (json as Readonly<Record<string, unknown>>)[key]
  return { is: 'problem', problem: `${key}: expected ${expected}, got ${got === undefined ? 'nothing' : shortly(got)}` }
}

const shortly = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}
