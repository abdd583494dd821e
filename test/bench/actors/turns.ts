/** Whose turn it is among those that are compared: in every other round the other way about, so that none always follows the same. Pure. */

/** The order of the n-th round, from 0: two rounds later it begins one place further on. */
export function turned<T>(all: readonly T[], round: number): readonly T[] {
  const at = (round >> 1) % Math.max(1, all.length)
  const order = [...all.slice(at), ...all.slice(0, at)]
  return round % 2 === 0 ? order : order.reverse()
}
