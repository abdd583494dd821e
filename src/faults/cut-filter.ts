/** Which open exchanges an operator's cut means. */
import { z } from 'zod'
import type { CallRecord } from '../core/record.ts'
import { oneOf, strict } from '../hops/shape.ts'
import { durationText, msOf } from './fault-values.ts'
import { createGlob } from './glob.ts'

const glob = z.string().min(1)

export const cutRequestSchema = strict({
  all: z.literal(true, { error: 'expected true, or leave it out' }).optional().describe('Cuts whatever is open'),
  id: z.string().optional(),
  tool: glob.optional(),
  method: glob.optional(),
  kind: oneOf('call', 'subscription', 'notification', 'get_sse', 'websocket', 'other').optional(),
  client: glob.optional(),
  revision: glob.optional(),
  olderThan: durationText.optional(),
  ending: oneOf('fin', 'rst').optional(),
}).superRefine((asked, context) => {
  const { ending: _, ...filters } = asked
  if (context.issues.length === 0 && Object.keys(filters).length === 0)
    context.addIssue({ code: 'custom', message: 'name what to cut (id, tool, method, kind, client, revision, olderThan), or all: true' })
})
export type CutRequest = z.output<typeof cutRequestSchema>

/** `ageMs`: since it opened. Keys are ANDed. */
export function createCutFilter({
  id,
  tool,
  method,
  kind,
  client,
  revision,
  olderThan,
}: CutRequest): (record: CallRecord, ageMs: number) => boolean {
  const texts = [
    { wanted: tool, of: (record: CallRecord) => record.tool },
    { wanted: method, of: (record: CallRecord) => record.method },
    { wanted: client, of: (record: CallRecord) => record.client },
    { wanted: revision, of: (record: CallRecord) => record.revision },
  ].flatMap(({ wanted, of }) => (wanted === undefined ? [] : [{ matches: createGlob(wanted), of }]))
  const atLeastMs = olderThan === undefined ? 0 : msOf(olderThan)
  return (record, ageMs) => {
    if (id !== undefined && record.id !== id) return false
    if (kind !== undefined && record.kind !== kind) return false
    if (ageMs < atLeastMs) return false
    return texts.every(({ matches, of }) => {
      const text = of(record)
      return text !== null && matches(text)
    })
  }
}
