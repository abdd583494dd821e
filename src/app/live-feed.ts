/** What the live WebSocket tells: an exchange understood, its head, its end, what would have cut it, and its settled record. */
import type { Subscribe } from '../admin/routes/live.ts'
import type { Fact } from '../core/fact.ts'
import type { LedgerView } from '../core/ledger.ts'
import type { Live } from '../sinks/live.ts'

export const liveFeed =
  (live: Live): Subscribe =>
  (tell) =>
    live.subscribe({
      fact(view, fact) {
        const message = messageOf(view, fact)
        if (message !== null) tell(message)
      },
      settled: (call) => tell({ is: 'settled', call }),
    })

function messageOf({ id, kind, calls, openedAtMs }: LedgerView, fact: Fact): unknown {
  const atMs = Math.round(fact.atMs - openedAtMs)
  switch (fact.kind) {
    case 'understood':
      return { is: 'opened', id, kind, method: calls[0]?.method ?? null, tool: calls[0]?.tool ?? null }
    case 'head':
      return fact.at === 'client' ? { is: 'head', id, atMs, status: fact.status } : null
    case 'closed':
      return { is: 'closed', id, atMs, cause: fact.cause.kind, seat: fact.cause.seat, ending: fact.ending }
    case 'would_cut':
      return { is: 'would-cut', id, atMs, cause: fact.cause.kind, seat: fact.cause.seat }
    default:
      return null
  }
}
