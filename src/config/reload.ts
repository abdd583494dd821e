/** What of newly read settings takes effect while running, and what needs a restart. */
import type { Settings } from './snapshot.ts'

type Part = 'listen' | 'upstream' | 'upstreamEngine' | 'admin' | 'metrics' | 'otlp'

/** Keys of the file; the rest comes from flags and environment, which do not change while running. */
const FIXED: readonly { readonly part: Part; readonly key: string }[] = [
  { part: 'listen', key: 'listen' },
  { part: 'upstream', key: 'upstream' },
  { part: 'upstreamEngine', key: 'upstreamEngine' },
  { part: 'admin', key: 'admin' },
  { part: 'metrics', key: 'metrics' },
  { part: 'otlp', key: 'otlp' },
]

/** The keys whose change is not taken; values are not repeated, for one of them is a token. */
export function needRestart(running: Settings, read: Settings): readonly string[] {
  const fixed = FIXED.filter(({ part }) => isOther(running[part], read[part])).map(({ key }) => key)
  return isOther(running.snapshot.work.match, read.snapshot.work.match) ? [...fixed, 'work.match'] : fixed
}

const isOther = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b)
