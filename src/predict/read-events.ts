/** `--events` files: JSON lines → records, or one clear line on what is wrong with them. */
import { z } from 'zod'
import type { CallRecord } from '../core/record.ts'

export interface EventsRead {
  readonly records: readonly CallRecord[]
  /** Lines left out, and why: a process that died may leave its last line unfinished. */
  readonly warnings: readonly string[]
}

const at = z.number().nullable()
/** What the judges read of a record; the rest goes through as it is. */
const shape = z.looseObject({
  id: z.string(),
  openedAt: z.string(),
  kind: z.string(),
  answer: z.enum(['sse', 'json', 'none', 'other']),
  method: z.string().nullable(),
  tool: z.string().nullable(),
  status: at,
  seenStatus: at,
  headersMs: at,
  closedMs: at,
  closedBeforeHeaders: z.boolean(),
  longestSilenceMs: z.number(),
  silenceAtCloseMs: at,
  bytes: z.looseObject({ request: z.number(), seen: z.number(), sent: z.number() }),
  closedBy: z.enum(['client', 'server', 'sidecar']).nullable(),
  cause: z.string().nullable(),
  result: z.enum(['none', 'seen', 'sent']),
  work: z.looseObject({ endedMs: at, outcome: z.string() }),
  timeline: z.array(z.array(z.union([z.number(), z.string()])).min(2)),
})

/** `fileName` is what messages call it: `calls.jsonl:12: expected …`. No line at all is an error too. */
export function readEvents(text: string, fileName: string): EventsRead | { readonly error: string } {
  const lines = text.split('\n')
  const records: CallRecord[] = []
  const warnings: string[] = []
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const place = `${fileName}:${index + 1}`
    const parsed = parseJson(line)
    if (parsed === undefined) {
      if (index < lines.length - 1 || records.length === 0)
        return { error: `${place}: expected a call's record as one line of JSON, got ${shown(line)}: write the file with run --events` }
      warnings.push(`${place}: the last line is not whole and left out`)
      continue
    }
    const read = shape.safeParse(parsed)
    if (!read.success) {
      const [issue] = read.error.issues
      return { error: `${place} ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a record'}: write the file with run --events` }
    }
    records.push(read.data as unknown as CallRecord)
  }
  return records.length === 0 ? { error: `${fileName}: no calls in it: write the file with run --events` } : { records, warnings }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
const shown = (line: string): string => JSON.stringify(line.length > 40 ? `${line.slice(0, 37)}…` : line)
