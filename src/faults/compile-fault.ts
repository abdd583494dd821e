/** A rule as written → what the planner asks of it. */
import { assert } from '../core/assert.ts'
import type { Side } from '../core/signal.ts'
import type { Deed } from './fault.ts'
import type { FaultRule } from './fault-schema.ts'
import { FAULT_KINDS } from './index.ts'
import type { Matcher } from './match.ts'
import { createMatcher } from './match.ts'

export interface CompiledFault {
  readonly name: string
  readonly at: Side
  readonly deed: Deed
  readonly matcher: Matcher
  readonly probability: number
  /** Which matches, counted from 1; null: all. */
  readonly nth: ReadonlySet<number> | null
  readonly connection: number | null
  readonly isEnabled: boolean
  readonly isAnnounced: boolean
  readonly expiresAtMs: number | null
}

export function compileFault({ rule, expiresAtMs }: { readonly rule: FaultRule; readonly expiresAtMs: number | null }): CompiledFault {
  const { name, when = {}, at, enabled = true, announce = false } = rule
  const [key, asked] = Object.entries(rule.do)[0] ?? []
  const kind = FAULT_KINDS.find((one) => one.key === key)
  assert(kind !== undefined, 'a rule has exactly one known kind')
  return {
    name,
    at: at ?? kind.at,
    deed: kind.deed(name, asked),
    matcher: createMatcher(when),
    probability: when.probability ?? 1,
    nth: when.nth === undefined ? null : new Set(typeof when.nth === 'number' ? [when.nth] : when.nth),
    connection: when.connection ?? null,
    isEnabled: enabled,
    isAnnounced: announce,
    expiresAtMs,
  }
}
