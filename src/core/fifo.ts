/** First in, first out, in constant time: a Map's own order costs a walk over all that was deleted before its first key. */

export interface Fifo<T> {
  push(item: T): void
  /** The oldest, taken out; undefined where there is none. */
  shift(): T | undefined
  /** The oldest, which stays. */
  first(): T | undefined
  size(): number
}

/** How many places may lie empty at the front before the rest moves up. */
const EMPTY_MAX = 1_024

export function createFifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = []
  let first = 0
  return {
    push: (item) => void items.push(item),
    shift() {
      if (first === items.length) return undefined
      const item = items[first]
      items[first] = undefined
      first += 1
      if (first > EMPTY_MAX && first * 2 > items.length) {
        items = items.slice(first)
        first = 0
      }
      return item
    },
    first: () => items[first],
    size: () => items.length - first,
  }
}
