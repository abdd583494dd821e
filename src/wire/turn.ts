/** One turn of an exchange: the line is told, and what follows from it is done: pressure, limits, the timer, the end. */
import type { Line } from '../core/ends.ts'
import type { Exchange, ExchangeLimits } from './exchange.ts'

/** Starts a turn: what is told until `endTurn` happened now. */
export function beginTurn(x: Exchange): number {
  x.turnMs = x.ports.clock.nowMs()
  return x.turnMs
}

/** After every call into the line: pressure, limits, the timer, and whether it is all over; and what others have to do in time. */
export function endTurn(x: Exchange): void {
  settleTurn(x)
  x.ports.clock.catchUp(x.turnMs)
}

/** What of a turn's end is the exchange's own. All of it for its first: it is not among the open ones yet, and who releases faults would miss it. */
export function settleTurn(x: Exchange): void {
  const { line } = x
  if (line === null || x.isFinished) return
  if (x.pressed.client !== null || x.pressed.server !== null) applyPressure(x, line)
  if (!line.isEmpty() || x.heldBytes > 0) measureHeld(x, line)
  rearm(x, line)
  if (x.isClosed && x.isServerOver) finish(x)
}

export function press(x: Exchange, side: 'client' | 'server', isBlocked: boolean): void {
  if (x.isFinished || x.line === null) return
  beginTurn(x)
  x.pressed[side] = isBlocked
  endTurn(x)
}

function applyPressure(x: Exchange, line: Line): void {
  for (const side of ['client', 'server'] as const) {
    const isBlocked = x.pressed[side]
    x.pressed[side] = null
    if (isBlocked === null || isBlocked === x.blocked[side]) continue
    x.blocked[side] = isBlocked
    line.pressed(side, isBlocked, x.turnMs)
  }
}

/** Held bytes have a limit, in one exchange and in all; reaching it is an ending like any other. */
function measureHeld(x: Exchange, line: Line): void {
  const { held, limits } = x.ports
  const seats = line.heldBytes()
  const heldBytes = seats + (seats > 0 || x.heldBytes > 0 ? x.downstream.verbs.backlogBytes(x.downstream) : 0)
  held.totalBytes += heldBytes - x.heldBytes
  x.heldBytes = heldBytes
  const over = overOf(x, limits)
  if (over !== null && !x.isClosed) line.order('fin', { kind: 'limit', seat: null, detail: `more than ${over}` }, x.turnMs)
}

function overOf({ heldBytes, ports }: Exchange, { heldBytesPerExchange, heldBytesTotal }: ExchangeLimits): string | null {
  if (heldBytes > heldBytesPerExchange) return `${heldBytesPerExchange} bytes held`
  return ports.held.totalBytes > heldBytesTotal ? `${heldBytesTotal} bytes held by all exchanges` : null
}

/** One timer: a wake too early is harmless, so it is moved only when it would come too late. */
function rearm(x: Exchange, line: Line): void {
  const wakeAtMs = x.isFinished ? null : line.wakeAtMs()
  if (wakeAtMs === null || wakeAtMs >= x.timerAtMs) return
  const delayMs = Math.max(0, wakeAtMs - x.turnMs)
  x.timerAtMs = wakeAtMs
  if (x.timer === null) x.timer = x.ports.clock.after(delayMs, () => wake(x))
  else x.timer.again(delayMs)
}

function wake(x: Exchange): void {
  x.timerAtMs = Infinity
  if (x.isFinished) return
  const nowMs = beginTurn(x)
  x.line?.wake(nowMs)
  endTurn(x)
}

function finish(x: Exchange): void {
  x.isFinished = true
  x.timer?.cancel()
  x.timer = null
  x.connectTimer?.cancel()
  x.ports.held.totalBytes -= x.heldBytes
  x.heldBytes = 0
  x.seating?.close()
  x.tell({ kind: 'finished', atMs: x.turnMs })
  if (!x.asking.isHandedOver) x.leg?.verbs.lose(x.leg, 'fin') // nobody wants the rest of the request
  x.downstream.verbs.discardRequest(x.downstream)
  x.whenFinished(x)
}
