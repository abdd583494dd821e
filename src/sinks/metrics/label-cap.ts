/** A label that users' own names fill: at most so many, then `other`, counted. */

export const OTHER = 'other'

export interface LabelCap {
  /** Gives the name a label of its own if there is room; true: it is new. */
  admit(name: string): boolean
  /** The name, if it was admitted; else `other`. */
  labelOf(name: string | null): string
  /** Those that have one, `other` not among them. */
  names(): readonly string[]
  /** How often `other` had to stand for a name. */
  countOverflow(name: string | null): void
  overflows(): number
}

export function createLabelCap(namesMax: number): LabelCap {
  const names = new Set<string>()
  let overflows = 0
  return {
    admit(name) {
      if (names.has(name) || names.size >= namesMax || name === OTHER) return false
      names.add(name)
      return true
    },
    labelOf: (name) => (name !== null && names.has(name) ? name : OTHER),
    countOverflow(name) {
      if (name !== null && !names.has(name)) overflows += 1
    },
    names: () => [...names],
    overflows: () => overflows,
  }
}
