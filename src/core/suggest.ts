/** "Did you mean …": the known word nearest to a mistyped one. */

/** The nearest of `known`, or null where none is near enough to be meant. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: string | null = null
  let bestSteps = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    const steps = distance(word.toLowerCase(), candidate.toLowerCase())
    if (steps < bestSteps) {
      best = candidate
      bestSteps = steps
    }
  }
  return best
}

/** `; did you mean "idle"?`, or the known words where none is near. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  return near === null ? `; known: ${known.join(', ')}` : `; did you mean "${near}"?`
}

/** Single-letter edits, a swap of neighbours counting as one. */
function distance(a: string, b: string): number {
  let last: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1]
      let steps = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) steps = Math.min(steps, (last[j - 2] ?? 0) + 1)
      next.push(steps)
    }
    last = row
    row = next
  }
  return row[b.length] ?? 0
}
