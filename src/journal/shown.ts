/** Which records a reader of the journal is shown. */
import { recordsOf } from '../core/ledger.ts'
import type { CallRecord } from '../core/record.ts'
import type { Entry } from './entry.ts'
import { numberOf } from './entry.ts'
import type { SettledRing } from './settled-ring.ts'

const PENDING_SHOWN_MAX = 1_000

/** In order of opening. `open`: only those whose stream is (or is not) open; absent: all, settled ones too. `entries`: of all that are not settled. */
export function recordsShown(
  ring: SettledRing,
  entries: readonly Entry[],
  open: boolean | undefined,
  nowMs: number,
): readonly CallRecord[] {
  const shown = [
    ...(open === true ? [] : entries.filter((entry) => !isOpen(entry)).slice(-PENDING_SHOWN_MAX)),
    ...(open === false ? [] : entries.filter(isOpen)),
  ]
  const settled = open === true ? [] : ring.all()
  const known = new Set(settled.map(({ id }) => id))
  const unsettled = shown.flatMap(({ view, graceMs }) => recordsOf(view, graceMs, nowMs)).filter(({ id }) => !known.has(id))
  return [...settled, ...unsettled].sort((a, b) => numberOf(a.id) - numberOf(b.id))
}

const isOpen = ({ view }: Entry): boolean => view.closedAtMs === null
