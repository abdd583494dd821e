/** Many predictions of one path, summed up: how many survive, when and by what the others are cut, and what would save most of them. */
import type { CauseKind } from '../core/signal.ts'
import type { Prediction } from './predict.ts'
import type { RaisedLimit, Remedy } from './remedy.ts'
import type { Seen } from './replay.ts'

export interface RemedyTally {
  readonly remedy: Remedy
  /** How many of the cut calls it is for. */
  readonly calls: number
}

export interface Tally {
  readonly path: string
  readonly survives: number
  readonly cut: number
  readonly unknown: number
  /** The earliest and the latest cut, ms since the call opened; null: none. */
  readonly cutMs: { readonly earliest: number; readonly latest: number } | null
  /** By hop and cause, the most frequent first. */
  readonly by: readonly { readonly hop: string; readonly cause: CauseKind; readonly calls: number }[]
  /** What the client most often sees of a cut. */
  readonly seen: Seen | null
  /** Never told of their cuts, of those cut. */
  readonly untold: number
  readonly remedies: readonly RemedyTally[]
}

export interface Tallying {
  take(prediction: Prediction): void
  tally(): Tally
}

export function createTallying(path: string): Tallying {
  const counts = { survives: 0, cut: 0, unknown: 0 }
  const by = new Map<string, { hop: string; cause: CauseKind; calls: number }>()
  const seen = new Map<string, { seen: Seen; calls: number }>()
  const remedies = new Map<string, { remedy: Remedy; calls: number }>()
  let [earliest, latest, untold] = [Infinity, -Infinity, 0]

  function takeCut({ atMs, hop, cause, seen: got, told, remedy }: Prediction): void {
    if (atMs === null || hop === null || cause === null) return
    earliest = Math.min(earliest, atMs)
    latest = Math.max(latest, atMs)
    if (told === null) untold += 1
    count(by, `${hop} ${cause}`, () => ({ hop, cause, calls: 0 }))
    count(seen, `${got.status} ${got.by} ${got.ending}`, () => ({ seen: got, calls: 0 }))
    if (remedy === null) return
    const key = keyOf(remedy)
    const before = remedies.get(key)
    remedies.set(key, { remedy: before === undefined ? remedy : wider(before.remedy, remedy), calls: (before?.calls ?? 0) + 1 })
  }

  return {
    take(prediction) {
      counts[prediction.verdict] += 1
      if (prediction.verdict === 'cut') takeCut(prediction)
    },
    tally: () => ({
      path,
      ...counts,
      cutMs: counts.cut === 0 ? null : { earliest, latest },
      by: sorted(by),
      seen: sorted(seen)[0]?.seen ?? null,
      untold,
      remedies: sorted(remedies),
    }),
  }
}

function count<Value extends { calls: number }>(map: Map<string, Value>, key: string, make: () => Value): void {
  const found = map.get(key) ?? make()
  found.calls += 1
  map.set(key, found)
}
const sorted = <Value extends { readonly calls: number }>(map: ReadonlyMap<string, Value>): readonly Value[] =>
  [...map.values()].sort((a, b) => b.calls - a.calls)

/** The same remedy but for its numbers. */
function keyOf(remedy: Remedy): string {
  if (remedy.is === 'server') return `server ${remedy.isFlushed} ${remedy.everyMs !== null} ${remedy.unbuffered}`
  return remedy.is === 'task' ? 'task' : `limits ${remedy.raised.map(({ hop, limit }) => `${hop}.${limit}`).join()}`
}

/** What serves both. */
function wider(a: Remedy, b: Remedy): Remedy {
  if (a.is === 'server' && b.is === 'server')
    return { ...a, everyMs: a.everyMs === null || b.everyMs === null ? a.everyMs : Math.min(a.everyMs, b.everyMs) }
  if (a.is !== 'limits' || b.is !== 'limits') return a
  return { is: 'limits', raised: a.raised.map((one, index): RaisedLimit => ({ ...one, to: Math.max(one.to, b.raised[index]?.to ?? 0) })) }
}
