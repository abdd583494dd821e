/** Whose turn it is among those that are compared: none is always the one after the same other. Pure. */

/** `by` places further on. */
export function turned<T>(all: readonly T[], by: number): readonly T[] {
  const at = by % Math.max(1, all.length)
  return [...all.slice(at), ...all.slice(0, at)]
}
