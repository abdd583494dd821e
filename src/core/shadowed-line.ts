/** A line with telling-only lines beside it: they are told what it is told, and act on nothing. */
import type { Line } from './ends.ts'
import type { SeatPlan } from './seat.ts'
import { createShadow } from './shadow.ts'
import type { Cause } from './signal.ts'

type Plan = { readonly name: string; readonly plans: readonly SeatPlan[] }

/** `wouldCut`: one of them would have ended the exchange now; told once each. */
export function shadowed(line: Line, plans: readonly Plan[], wouldCut: (cause: Cause, atMs: number) => void): Line {
  if (plans.length === 0) return line
  const shadows = plans.map((plan) => createShadow(plan.name, plan.plans, wouldCut))
  return {
    ...line,
    fromClient(signal, atMs) {
      for (const shadow of shadows) shadow.fromClient(signal, atMs)
      line.fromClient(signal, atMs)
    },
    fromServer(signal, atMs) {
      for (const shadow of shadows) shadow.fromServer(signal, atMs)
      line.fromServer(signal, atMs)
    },
    pressed(side, isBlocked, atMs) {
      for (const shadow of shadows) shadow.pressed(side, isBlocked, atMs)
      line.pressed(side, isBlocked, atMs)
    },
    wake(atMs) {
      for (const shadow of shadows) shadow.wake(atMs)
      line.wake(atMs)
    },
    wakeAtMs() {
      const due = [line, ...shadows].flatMap((each) => each.wakeAtMs() ?? [])
      return due.length === 0 ? null : Math.min(...due)
    },
    isEmpty: () => false, // they want to see events
  }
}
