/** A bucket of allowances that fills with time: how often something may happen. */

export interface RateLimit {
  /** Takes one allowance; false: none is left. */
  take(atMs: number): boolean
  /** Whether one is left; takes none. */
  has(atMs: number): boolean
}

export function createRateLimit({ perSecond, burst }: { perSecond: number; burst: number }): RateLimit {
  let left = burst
  let lastMs: number | null = null
  const fill = (atMs: number): number => {
    left = Math.min(burst, left + (Math.max(0, atMs - (lastMs ?? atMs)) * perSecond) / 1_000)
    lastMs = atMs
    return left
  }
  return {
    has: (atMs) => fill(atMs) >= 1,
    take(atMs) {
      if (fill(atMs) < 1) return false
      left -= 1
      return true
    },
  }
}
