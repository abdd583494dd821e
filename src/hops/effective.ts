/** The limits of a whole path: the least of each kind, and the hop that sets it. */
import type { Hop } from './hop.ts'

export interface EffectiveLimit {
  readonly ms: number
  /** Its unique name in the path, `path[1]:nginx`. */
  readonly hop: string
  readonly preset: string
}
export type EffectiveLimits = Readonly<Record<'headers' | 'idle' | 'total', EffectiveLimit | null>>

/** Of hops with the same limit, the one nearest the server: its timer fires first. `headers` is the wait for the head, whoever bounds it. */
export function effectiveLimits(path: readonly Hop[]): EffectiveLimits {
  return {
    headers: least(path, waitMs),
    idle: least(path, ({ idle }) => idle?.afterMs ?? null),
    total: least(path, ({ total }) => total?.afterMs ?? null),
  }
}

/** Where a hop has no `headers`, its `idle` covers the wait. */
function waitMs({ headers, idle }: Hop): number | null {
  if (headers === 'none') return null
  return headers?.afterMs ?? idle?.afterMs ?? null
}

function least(path: readonly Hop[], msOf: (hop: Hop) => number | null): EffectiveLimit | null {
  let found: EffectiveLimit | null = null
  for (const hop of path) {
    const ms = msOf(hop)
    if (ms !== null && (found === null || ms <= found.ms)) found = { ms, hop: hop.name, preset: hop.preset }
  }
  return found
}
