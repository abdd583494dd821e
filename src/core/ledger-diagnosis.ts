/** Why a call ended as it did, in a sentence, where its times give a well-known default away. */
import type { CallState, LedgerState } from './ledger-state.ts'
import { closedByOf } from './verdict.ts'

/** How far from a default a close may be and still be its doing: clients start their timers a little before we see the request. */
const BEFORE_MS = 1_000
const AFTER_MS = 1_500
/** Its timers are coarse. */
const FETCH_AFTER_MS = 3_000
/** The TypeScript SDKs give a request this long, and Node's fetch this long without a byte. */
const SDK_TIMEOUT_MS = 60_000
const FETCH_SILENCE_MS = 300_000

const isNear = (ms: number, defaultMs: number, afterMs = AFTER_MS): boolean => ms >= defaultMs - BEFORE_MS && ms <= defaultMs + afterMs
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

/** Null: nothing that the times alone would tell. */
export function diagnosisOf(state: LedgerState, call: CallState): string | null {
  const { abandonedAtMs, abandonedBy, requestId } = call
  if (abandonedAtMs === null || requestId === null || state.kind !== 'call') return null
  const isClients = abandonedBy === 'notification' || (state.cause !== null && closedByOf(state.cause) === 'client')
  if (!isClients) return null
  const abandonedMs = abandonedAtMs - state.openedAtMs
  if (isNear(abandonedMs, SDK_TIMEOUT_MS)) return `the client gave up at ${seconds(abandonedMs)}, its default; ${progressRemark(call)}`
  const silenceMs = state.silenceAtCloseMs ?? 0
  if (!isNear(silenceMs, FETCH_SILENCE_MS, FETCH_AFTER_MS)) return null
  const awaited = state.seenStatus === null ? 'headers' : 'a byte'
  return `the client gave up after ${seconds(silenceMs)} without ${awaited}, the default of Node's fetch; a keepalive would have reset it`
}

function progressRemark({ progressToken, progressSent }: CallState): string {
  if (progressToken === null) return 'no progress token was sent, so progress cannot reset it'
  if (progressSent === 0) return 'it asked for progress, and none came'
  return 'progress came, and resets it only where the client says so (resetTimeoutOnProgress)'
}
