/** Time as a port: the process's real clock, a test's fake one, or a prediction's virtual one. */

export interface Timer {
  cancel(): void
  /** The same, so long from now; in place of what is still to come. One that is set every few seconds for weeks makes nothing anew. */
  again(delayMs: number): void
}

export interface Clock {
  /** Monotonic milliseconds since an arbitrary start; fractions allowed. */
  nowMs(): number
  /** Unix milliseconds, for what leaves the process (`openedAt`, work reports). */
  wallMs(): number
  /** Runs once, never earlier than `delayMs` from now by `nowMs`. */
  after(delayMs: number, run: () => void): Timer
  /**
   * Runs what fell due until `nowMs`; not inside of what it runs. Timers wait until all that one poll brought is done with, and hundreds of
   * clients that leave in one moment are many milliseconds of it: who handles one of many events asks for this after it.
   */
  catchUp(nowMs: number): void
}
