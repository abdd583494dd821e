/** Who is behind a cause, in the words of records and metrics. */

import type { CauseClass } from './ledger-view.ts'
import type { ClosedBy } from './record.ts'
import type { Cause } from './signal.ts'

export function closedByOf({ kind }: Cause): ClosedBy {
  switch (kind) {
    case 'client_abort':
    case 'client_reset':
      return 'client'
    case 'complete':
    case 'server_close':
    case 'server_reset':
    case 'unreachable':
      return 'server'
    default:
      return 'sidecar'
  }
}

/** The preset's name; null where no hop decided. A seat of the path is named `path[1]:nginx`. */
export const hopOf = ({ hop, seat }: Cause): string | null => hop ?? /^path\[\d+\]:(.+)$/.exec(seat ?? '')?.[1] ?? null

/** The rule's name; null where no fault decided. */
export const faultOf = ({ kind, fault, seat }: Cause): string | null => fault ?? (kind === 'fault' ? seat : null)

export function causeClassOf(cause: Cause): CauseClass {
  if (closedByOf(cause) === 'client') return 'client'
  if (cause.kind === 'complete') return 'complete'
  if (closedByOf(cause) === 'server') return 'server'
  if (faultOf(cause) !== null) return 'fault'
  return hopOf(cause) !== null ? 'hop' : 'other'
}
