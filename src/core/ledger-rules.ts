/** Broken rules, into the ledger: once per call, with the sentence that says which header, id or value it was. */
import type { CallState, LedgerState } from './ledger-state.ts'
import type { RuleId, Severity } from './mcp/rules.ts'
import { severityOf } from './mcp/rules.ts'

const REMARKS_MAX = 20
const NONE: readonly never[] = []

/** Where the revision has no such rule, nothing is broken. */
export function breakRule(
  state: LedgerState,
  call: CallState,
  rule: RuleId,
  detail: string | null = null,
  severity: Severity | null = severityOf(rule, state.revision),
): void {
  if (severity === null || call.broken.some((broken) => broken.rule === rule)) return
  call.broken = withOne(call.broken, { rule, severity })
  if (detail !== null) remark(state, detail)
}

/** A sentence, or a few fixed words, that the record tells once. */
export function remark(state: LedgerState, text: string): void {
  if (!state.notices.includes(text) && state.notices.length < REMARKS_MAX) state.notices = withOne(state.notices, text)
}

export const brokenAs = ({ broken }: CallState, severity: Severity): readonly RuleId[] =>
  broken.length === 0 ? NONE : broken.filter((one) => one.severity === severity).map(({ rule }) => rule)

/** A first one alone: spread into a new array it would make room for sixteen more. */
const withOne = <T>(some: readonly T[], one: T): readonly T[] => (some.length === 0 ? [one] : [...some, one])
