/** Time as a port: the process's real clock, a test's fake one, or a prediction's virtual one. */

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Monotonic milliseconds since an arbitrary start; fractions allowed. */
  nowMs(): number
  /** Unix milliseconds, for what leaves the process (`openedAt`, work reports). */
  wallMs(): number
  /** Runs once, never earlier than `delayMs` from now by `nowMs`. */
  after(delayMs: number, run: () => void): Timer
}
