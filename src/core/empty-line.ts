/** The line where nobody sits, which is most of them: what `createLine` does of no plans, without what only seats need. */
import type { Line } from './ends.ts'
import type { Ask, Cause, Ending, Reply } from './signal.ts'
import { clientAbort, lost } from './signal.ts'

/** The ends of many lines in one table, each told whose it is. */
export interface EndsOf<Owner> {
  toClient(owner: Owner, signal: Reply, atMs: number): void
  toServer(owner: Owner, signal: Ask, atMs: number): void
  hold(owner: Owner, from: 'client' | 'server', isHeld: boolean): void
  closed(owner: Owner, cause: Cause, ending: Ending, atMs: number): void
}

// What only seats could do is shared by all.
const nothing = (): void => undefined
const never = (): null => null
const none = (): number => 0
const yes = (): boolean => true

export function createEmptyLine<Owner>(ends: EndsOf<Owner>, owner: Owner): Line {
  let isServerEdgeOpen = true // towards the client: no `end` or `lost` came in
  let isResponseOver = false // at the client, one way or another: nothing goes to the server any more, not even a leaving
  let hasAsked = false
  let blockedClient = false
  let blockedServer = false

  function close(cause: Cause, ending: Ending, atMs: number): void {
    isResponseOver = true
    ends.closed(owner, cause, ending, atMs)
  }

  function deliverToClient(signal: Reply, atMs: number): void {
    if (isResponseOver) return
    isResponseOver = signal.is === 'end' || signal.is === 'lost'
    ends.toClient(owner, signal, atMs)
    if (signal.is === 'end') close(signal.cause, 'clean', atMs)
    else if (signal.is === 'lost') close(signal.cause, signal.ending, atMs)
  }

  return {
    open: nothing,
    wake: nothing,
    release: nothing,
    wakeAtMs: never,
    heldBytes: none,
    isEmpty: yes,
    fromServer(signal, atMs) {
      if (!isServerEdgeOpen) return
      if (signal.is === 'end' || signal.is === 'lost') isServerEdgeOpen = false
      deliverToClient(signal, atMs)
    },
    fromClient(signal, atMs) {
      if (isResponseOver) return
      if (signal.is === 'half') {
        // Nobody minded the client's FIN, so it counts as its leaving.
        close(clientAbort, 'fin', atMs)
        return ends.toServer(owner, lost('fin', clientAbort), atMs)
      }
      if (signal.is === 'asked' && hasAsked) return
      if (signal.is === 'asked') hasAsked = true
      if (signal.is === 'lost') close(signal.cause, signal.ending, atMs)
      ends.toServer(owner, signal, atMs)
    },
    pressed(side, isBlocked) {
      if (side === 'client' ? blockedClient === isBlocked : blockedServer === isBlocked) return
      if (side === 'client') blockedClient = isBlocked
      else blockedServer = isBlocked
      ends.hold(owner, side === 'client' ? 'server' : 'client', isBlocked)
    },
    order(ending, cause, atMs) {
      if (isResponseOver) return
      deliverToClient(lost(ending, cause), atMs)
      ends.toServer(owner, lost(ending, cause), atMs)
    },
  }
}
