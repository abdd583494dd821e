/**
 * A `notifications/cancelled` arrives on an exchange of its own: this joins it to the call it means, by session and JSON-RPC id.
 * Without a session nobody can tell whose call `3` is, so nothing is joined.
 */
import type { Fact } from '../core/fact.ts'
import type { Entry } from './entry.ts'

export interface Cancellations {
  /** The exchange said what it asks: its calls can now be named, and those it names are cancelled. */
  understood(entry: Entry, atMs: number): void
  /** The server answered it: it has what the exchange carried. */
  answered(entry: Entry, status: number, atMs: number): void
  forget(entry: Entry): void
}

export function createCancellations(tell: (entry: Entry, fact: Fact) => void): Cancellations {
  const named = new Map<string, Set<Entry>>()
  const keyOf = (session: string, requestId: string): string => `${session}\n${requestId}`

  function register(entry: Entry): void {
    const { session, calls } = entry.ledger.view
    if (session === null) return
    for (const { requestId } of calls) {
      if (requestId === null || requestId === '') continue
      const key = keyOf(session, requestId)
      const entries = named.get(key) ?? new Set()
      if (entries.has(entry)) continue
      named.set(key, entries.add(entry))
      entry.cancelKeys.push(key)
    }
  }

  return {
    understood(entry, atMs) {
      register(entry)
      const { session, cancels } = entry.ledger.view
      if (session === null) return
      for (const requestId of cancels) {
        for (const target of named.get(keyOf(session, requestId)) ?? []) {
          tell(target, { kind: 'cancelled', atMs, requestId })
          entry.carries.push({ target, requestId })
        }
      }
    },
    answered(entry, status, atMs) {
      if (entry.carries.length === 0 || status < 200 || status > 299) return
      const reachedAtMs = entry.ledger.view.askedAtMs ?? atMs
      for (const { target, requestId } of entry.carries.splice(0)) tell(target, { kind: 'cancel_told', atMs, reachedAtMs, requestId })
    },
    forget(entry) {
      for (const key of entry.cancelKeys.splice(0)) {
        const entries = named.get(key)
        entries?.delete(entry)
        if (entries?.size === 0) named.delete(key)
      }
    },
  }
}
