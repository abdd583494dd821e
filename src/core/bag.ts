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

export interface Keyed<T> {
  get(key: string): T | undefined
  set(key: string, item: T): void
  delete(key: string): void
  /** The one that came first of those that are here. */
  oldest(): readonly [string, T] | undefined
  values(): T[]
  size(): number
}

interface Held<T> {
  item: T | undefined
}

/** So few that left are not worth a new table. */
const GONE_MIN = 256

/**
 * By texts. Who leaves only gives up the item, and when most have left those who are here move into a new table: a Map that is
 * deleted from makes itself smaller again and again.
 */
export function createKeyed<T>(): Keyed<T> {
  let held = new Map<string, Held<T>>()
  let gone = 0
  return {
    get: (key) => held.get(key)?.item,
    set(key, item) {
      const place = held.get(key)
      if (place?.item !== undefined) {
        place.item = item
        return
      }
      if (place !== undefined) {
        held.delete(key) // it comes anew, and last
        gone -= 1
      }
      held.set(key, { item })
    },
    delete(key) {
      const place = held.get(key)
      if (place?.item === undefined) return
      place.item = undefined
      gone += 1
      if (gone < GONE_MIN || gone * 2 < held.size) return
      const left = new Map<string, Held<T>>()
      held.forEach((one, name) => {
        if (one.item !== undefined) left.set(name, one)
      })
      held = left
      gone = 0
    },
    oldest() {
      for (const [key, { item }] of held) {
        if (item !== undefined) return [key, item]
        held.delete(key)
        gone -= 1
      }
      return undefined
    },
    values: () => [...held.values()].flatMap(({ item }) => (item === undefined ? [] : [item])),
    size: () => held.size - gone,
  }
}
