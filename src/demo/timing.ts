/** How long the demo's calls work and wait; tests run the same story faster. */

export interface Timing {
  /** What each call asks of the server. */
  readonly workMs: number
  readonly progressEveryMs: number
  /** The impatient client is gone then. */
  readonly leaveAfterMs: number
  /** Of the calls that meet the idle timeout: no progress after this. */
  readonly silentAfterMs: number
  readonly idleTimeoutMs: number
  /** Work that stops within this after the server was told is not orphaned. */
  readonly graceMs: number
}

export const DEMO_TIMING: Timing = {
  workMs: 6_000,
  progressEveryMs: 500,
  leaveAfterMs: 2_000,
  silentAfterMs: 1_000,
  idleTimeoutMs: 2_000,
  graceMs: 2_000,
}
