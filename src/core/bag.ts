/**
 * Things that come and go by the thousand. A Map or a Set that does so leaves a chain of outgrown tables behind, each of which keeps
 * what it held until the next full collection: here nothing points to what has left.
 */

export interface Place<T> {
  readonly item: T
  at: number
}

export interface Bag<T> extends Iterable<T> {
  add(item: T): Place<T>
  /** Once; again does nothing. */
  remove(place: Place<T>): void
  size(): number
}

/** In no order. */
export function createBag<T>(): Bag<T> {
  const places: Place<T>[] = []
  return {
    add(item) {
      const place = { item, at: places.length }
      places.push(place)
      return place
    },
    remove(place) {
      if (place.at < 0) return
      const last = places.pop()
      if (last !== undefined && last !== place) {
        last.at = place.at
        places[place.at] = last
      }
      place.at = -1
    },
    size: () => places.length,
    *[Symbol.iterator]() {
      for (const { item } of [...places]) yield item
    },
  }
}

export interface Numbered<T> {
  get(number: number): T | undefined
  set(number: number, item: T): void
  delete(number: number): void
  /** In the order of their numbers. */
  values(): T[]
  size(): number
}

/** By whole numbers from 0 on: an object's own table for them is replaced whole as it grows, and leaves no chain. */
export function createNumbered<T>(): Numbered<T> {
  const items: Record<number, T> = Object.create(null) as Record<number, T>
  let size = 0
  return {
    get: (number) => items[number],
    set(number, item) {
      if (!(number in items)) size += 1
      items[number] = item
    },
    delete(number) {
      if (!(number in items)) return
      size -= 1
      delete items[number]
    },
    values: () => Object.values(items),
    size: () => size,
  }
}
