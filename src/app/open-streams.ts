/** Which open exchanges are worth waiting for when the sidecar stops: calls and uploads are, streams that only listen are not. */
import { createKeyed } from '../core/bag.ts'
import type { Fact } from '../core/fact.ts'
import type { LedgerView } from '../core/ledger.ts'
import type { Sink } from '../journal/sink.ts'

export interface OpenStreams {
  readonly sink: Sink
  /** Somebody awaits an answer of this exchange, or it is not known yet. */
  isAwaited(exchangeId: string): boolean
}

export function createOpenStreams(): OpenStreams {
  const live = createKeyed<LedgerView>() // until its calls are settled
  const asking = new Set<string>() // WebSocket sessions whose client spoke last

  function fact(view: LedgerView, told: Fact): void {
    if (told.kind === 'opened') live.set(view.id, view)
    // What a session's frames say is not read: who spoke last tells whether an answer is to come.
    else if (told.kind === 'moved' && view.kind === 'websocket') {
      if (told.flow === 'request') asking.add(view.id)
      else if (told.flow === 'seen') asking.delete(view.id)
    }
  }

  return {
    sink: {
      name: 'open streams',
      facts: ['opened', 'moved'],
      fact,
      settled(_, { exchangeId: id }) {
        if (live.get(id)?.calls.every(({ isSettled }) => isSettled) !== true) return
        live.delete(id)
        if (asking.size > 0) asking.delete(id)
      },
    },
    isAwaited(id) {
      const kind = live.get(id)?.kind
      if (kind === 'websocket') return asking.has(id)
      if (kind === 'subscription') return false
      // In 2024-11-05 the answers to POSTs come on the GET stream; later a call may be resumed on one.
      return kind !== 'get_sse' || live.values().some((view) => view.continuedOn === id && view.calls.some(isUnanswered))
    },
  }
}

const isUnanswered = ({ isSettled, result }: LedgerView['calls'][number]): boolean => !isSettled && result !== 'sent'
