/** Safety in numbers: how many open exchanges may be affected, and how many cuts a minute may be made, by faults and hops alike. */
import type { Safety } from './fault-schema.ts'

const MINUTE_MS = 60_000

/** One open exchange's share in the caps. */
export interface ExchangeCaps {
  /** Marks it as affected, or answers false: too many open ones are already. */
  affect(): boolean
  /** Takes one of the minute's cuts, or answers false: none is left, or the exchange may not be affected. */
  mayCut(atMs: number): boolean
  /** It is over. */
  close(): void
}

/** Lives as long as the process; settings come with each exchange. */
export interface Caps {
  open(safety: Safety): ExchangeCaps
  /** The same for an exchange that nothing can affect: it only counts as open, until `leave`. */
  enter(): void
  leave(): void
  affectedOpen(): number
}

export function createCaps(): Caps {
  let open = 0
  let affected = 0
  let cutsMs: number[] = [] // of the last minute; no longer than the cap that is set

  function takeCut(max: number, atMs: number): boolean {
    cutsMs = cutsMs.filter((cutMs) => cutMs > atMs - MINUTE_MS)
    if (cutsMs.length >= max) return false
    cutsMs.push(atMs)
    return true
  }
  return {
    affectedOpen: () => affected,
    enter() {
      open += 1
    },
    leave() {
      open -= 1
    },
    open({ affectedMax, cutsPerMinuteMax }) {
      let isAffected = false
      let isOpen = true
      open += 1
      function affect(): boolean {
        if (isAffected || !isOpen) return true
        const most = affectedMax === undefined ? Infinity : Math.max(1, Math.floor((open * Number.parseFloat(affectedMax)) / 100))
        if (affected >= most) return false
        isAffected = true
        affected += 1
        return true
      }
      return {
        affect,
        mayCut: (atMs) => affect() && (cutsPerMinuteMax === undefined || takeCut(cutsPerMinuteMax, atMs)),
        close() {
          if (!isOpen) return
          isOpen = false
          open -= 1
          if (isAffected) affected -= 1
        },
      }
    },
  }
}
