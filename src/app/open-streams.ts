/** Which open exchanges are worth waiting for when the sidecar stops: calls and uploads are, streams that only listen are not. */
import type { LedgerView } from '../core/ledger.ts'

/** Somebody awaits an answer of this exchange, or it is not known yet. `all`: every exchange with a call that is not settled. */
export function isAwaited(view: LedgerView | undefined, all: () => readonly LedgerView[]): boolean {
  if (view === undefined) return true
  const { kind, id, spokeLast } = view
  // What a session's frames say is not read: who spoke last tells whether an answer is to come.
  if (kind === 'websocket') return spokeLast === 'client'
  if (kind === 'subscription') return false
  // In 2024-11-05 the answers to POSTs come on the GET stream; later a call may be resumed on one.
  return kind !== 'get_sse' || all().some((other) => other.continuedOn === id && other.calls.some(isUnanswered))
}

const isUnanswered = ({ isSettled, result }: LedgerView['calls'][number]): boolean => !isSettled && result !== 'sent'
