/** Who comes last stands last, and whoever leaves is gone: a Set or a Map's order would keep thousands that left until the next full collection. */

/** What stands in a row knows its neighbours. */
export interface InRow<T> {
  before: T | null
  after: T | null
}

export interface Row<T> {
  first: T | null
  last: T | null
}

export function putLast<T extends InRow<T>>(row: Row<T>, one: T): void {
  one.before = row.last
  if (row.last === null) row.first = one
  else row.last.after = one
  row.last = one
}

/** It stands in this row. */
export function takeOut<T extends InRow<T>>(row: Row<T>, one: T): void {
  const { before, after } = one
  if (before === null) row.first = after
  else before.after = after
  if (after === null) row.last = before
  else after.before = before
  one.before = null
  one.after = null
}
