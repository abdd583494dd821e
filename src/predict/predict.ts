/** The verdict on one recorded call and one path: survives, cut, or unknown past the end of the recording. */
import type { CauseKind } from '../core/signal.ts'
import type { Candidate } from './candidate.ts'
import { isHarmless } from './harmless.ts'
import type { Recording } from './recording.ts'
import type { Longest } from './recording-changes.ts'
import { longestOf, withEnd } from './recording-changes.ts'
import type { Remedy } from './remedy.ts'
import { remedyFor } from './remedy.ts'
import type { Replay, Seen } from './replay.ts'
import { replay } from './replay.ts'

/** `survives`: no hop of the path ends it. `unknown`: none does as far as the recording goes. */
export type Verdict = 'survives' | 'cut' | 'unknown'

export interface Prediction {
  readonly call: string
  readonly tool: string | null
  readonly method: string | null
  readonly path: string
  readonly verdict: Verdict
  /** When it is cut, or up to when it is known not to be; null: it survives. Ms since it opened. */
  readonly atMs: number | null
  /** The recording ends before: it is cut by then at the latest. */
  readonly isAtLatest: boolean
  /** The preset that cuts, its unique name in the path, and the limit reached. */
  readonly hop: string | null
  readonly seat: string | null
  readonly cause: CauseKind | null
  /** What the client gets, as far as is known. */
  readonly seen: Seen
  /** When and how the server learns of a cut; null: never, or not cut. */
  readonly told: Replay['told']
  readonly remedy: Remedy | null
}

/** For one call and many paths: what is the same for all of them is found out once. */
export function createPredictor(recording: Recording): (candidate: Candidate) => Prediction {
  const isWhole = recording.steps.at(-1)?.signal.is === 'end'
  const longest: Longest | null = isWhole ? longestOf(recording) : null
  const untouched: Judged = { verdict: 'survives', replayed: replay(recording, []), isAtLatest: false }
  return (candidate) =>
    predictionOf(recording, candidate, longest !== null && isHarmless(candidate.hops, longest) ? untouched : judge(recording, candidate))
}

export const predict = (recording: Recording, candidate: Candidate): Prediction => createPredictor(recording)(candidate)

function predictionOf(recording: Recording, candidate: Candidate, found: Judged): Prediction {
  const { record } = recording
  const { verdict, replayed } = found
  const isCut = verdict === 'cut'
  const cause = isCut ? (replayed.closed?.cause ?? null) : null
  return {
    call: record.id,
    tool: record.tool,
    method: record.method,
    path: candidate.name,
    verdict,
    atMs: isCut ? (replayed.closed?.atMs ?? null) : verdict === 'unknown' ? recording.knownUntilMs : null,
    isAtLatest: found.isAtLatest,
    hop: cause?.hop ?? null,
    seat: cause?.seat ?? null,
    cause: cause?.kind ?? null,
    seen: replayed.seen,
    told: isCut ? replayed.told : null,
    remedy: isCut ? remedyFor(recording, candidate, replayed) : null,
  }
}

export interface Judged {
  readonly verdict: Verdict
  readonly replayed: Replay
  readonly isAtLatest: boolean
}

/** Without the shortcut: by replaying it. */
export function judge(recording: Recording, candidate: Candidate): Judged {
  const replayed = replay(recording, candidate.plans)
  if (replayed.closed !== null) return { verdict: isOwn(replayed) ? 'cut' : 'survives', replayed, isAtLatest: false }
  const later = recording.laterMs === null ? null : replay(withEnd(recording, recording.laterMs), candidate.plans)
  // Of the time in between nothing is known but that the call was worked on. A total does not mind what was sent meanwhile;
  // and where even silence is no reason to cut, nothing is.
  if (later !== null && isOwn(later) && later.closed?.cause.kind === 'max_duration') {
    return {
      verdict: 'cut',
      replayed: { ...later, seen: { ...later.seen, events: replayed.seen.events, bytes: replayed.seen.bytes } },
      isAtLatest: isLazy(later, candidate),
    }
  }
  if (later !== null && recording.isLaterItsEnd && later.closed !== null && !isOwn(later))
    return { verdict: 'survives', replayed: later, isAtLatest: false }
  return { verdict: 'unknown', replayed, isAtLatest: false }
}

/** A hop of the path ended it, by a limit of its own. */
export const isOwn = ({ closed }: Replay): boolean => closed !== null && closed.cause.hop !== undefined

/** It waits for a write, and when the server wrote is what is not known. */
function isLazy({ closed }: Replay, { hops }: Candidate): boolean {
  return hops.find(({ name }) => name === closed?.cause.seat)?.total?.at === 'next-write'
}
