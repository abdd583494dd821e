/** A rule as the API or a file gives it, read or refused; and when it ends. */
import { placeOf, problemsOf } from '../hops/shape.ts'
import type { FaultRule, Safety } from './fault-schema.ts'
import { faultRuleSchema, refusalOf } from './fault-schema.ts'
import { msOf } from './fault-values.ts'

/** `status`: 404, 409 or 422; `message` begins with the key. */
export interface Refusal {
  readonly status: 404 | 409 | 422
  readonly key: string
  readonly message: string
}
/** `nowMs`: the clock that ends are kept by; `wallMs`: what `until` is written in. */
export interface Now {
  readonly nowMs: number
  readonly wallMs: number
}
export function readRule(written: unknown, safety: Safety, now: Now): FaultRule | Refusal {
  const read = faultRuleSchema.safeParse(written)
  if (!read.success) {
    const [problem] = problemsOf(read.error.issues)
    const key = placeOf(problem?.path ?? []) || 'body'
    return { status: 422, key, message: `${key}: ${problem?.message ?? 'invalid'}` }
  }
  const refusal = refusalOf(read.data, safety)
  if (refusal !== null) return { status: 422, key: refusal.slice(0, refusal.indexOf(':')), message: refusal }
  const end = endOf(read.data, now)
  if (read.data.until !== undefined && end !== null && end <= now.nowMs)
    return { status: 422, key: 'until', message: 'until: expected a time to come' }
  return read.data
}
export const isRefusalOf = (result: FaultRule | Refusal): result is Refusal => 'status' in result

/** When it ends, by `nowMs`'s clock. */
export function endOf(
  ends: { readonly for?: string | undefined; readonly until?: string | undefined },
  { nowMs, wallMs }: Now,
): number | null {
  if (ends.for !== undefined) return nowMs + msOf(ends.for)
  return ends.until === undefined ? null : nowMs + (Date.parse(ends.until) - wallMs)
}
