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
