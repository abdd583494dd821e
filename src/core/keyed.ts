/**
 * What is kept by exchange, `c42`, while the exchange lives: found by its number, in pages of those opened one after the other. A Map from
 * which thousands leave keeps what it held in outgrown tables, and must hash a new text for every exchange.
 */

export interface Keyed<T> {
  get(key: string): T | undefined
  set(key: string, item: T): void
  delete(key: string): void
  /** The one opened first of those that are here. */
  oldest(): readonly [string, T] | undefined
  /** In order of opening; what is no exchange comes last. */
  values(): T[]
  size(): number
}

const PAGE_BITS = 8
const PAGE_SIZE = 1 << PAGE_BITS

interface Page<T> {
  readonly number: number
  readonly items: (T | undefined)[]
  count: number
}

const pageOf = <T>(number: number): Page<T> => ({ number, items: Array.from({ length: PAGE_SIZE }, () => undefined), count: 0 })

export function createKeyed<T>(): Keyed<T> {
  // A stream that lives for weeks keeps its own page, and no other.
  const pages = new Map<number, Page<T>>()
  const others = new Map<string, T>()
  let newest = pageOf<T>(-1) // stays when it is empty: where one exchange follows the other it would be made for each
  let size = 0

  const pageAt = (number: number): Page<T> | undefined => (newest.number === number ? newest : pages.get(number))

  function newPage(number: number): Page<T> {
    const page = pageOf<T>(number)
    pages.set(number, page)
    if (number < newest.number) return page
    if (newest.count === 0) pages.delete(newest.number)
    newest = page
    return page
  }

  function put(at: number, item: T): void {
    const page = pageAt(at >>> PAGE_BITS) ?? newPage(at >>> PAGE_BITS)
    const place = at & (PAGE_SIZE - 1)
    if (page.items[place] === undefined) {
      page.count += 1
      size += 1
    }
    page.items[place] = item
  }

  function takeOut(at: number): void {
    const page = pageAt(at >>> PAGE_BITS)
    const place = at & (PAGE_SIZE - 1)
    if (page?.items[place] === undefined) return
    page.items[place] = undefined
    page.count -= 1
    size -= 1
    if (page.count === 0 && page !== newest) pages.delete(page.number)
  }

  const inOrder = (): Page<T>[] => [...pages.values()].sort((a, b) => a.number - b.number)

  return {
    get(key) {
      const at = numberIn(key)
      return at < 0 ? others.get(key) : pageAt(at >>> PAGE_BITS)?.items[at & (PAGE_SIZE - 1)]
    },
    set(key, item) {
      const at = numberIn(key)
      if (at < 0) others.set(key, item)
      else put(at, item)
    },
    delete(key) {
      const at = numberIn(key)
      if (at < 0) others.delete(key)
      else takeOut(at)
    },
    oldest() {
      let page: Page<T> | null = null
      for (const one of pages.values()) if (one.count > 0 && (page === null || one.number < page.number)) page = one
      if (page === null) return others.entries().next().value
      const place = page.items.findIndex((item) => item !== undefined)
      return [`c${page.number * PAGE_SIZE + place}`, page.items[place] as T]
    },
    values: () => [...inOrder().flatMap(({ items }) => items.filter((item) => item !== undefined)), ...others.values()],
    size: () => size + others.size,
  }
}

const DIGITS_MAX = 9

/** 42 of `c42`; -1 of what is no exchange's id. */
function numberIn(key: string): number {
  const { length } = key
  if (length < 2 || length > DIGITS_MAX + 1 || key.charCodeAt(0) !== 0x63) return -1
  let number = 0
  for (let at = 1; at < length; at += 1) {
    const digit = key.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return -1
    number = number * 10 + digit
  }
  return key.charCodeAt(1) === 0x30 && length > 2 ? -1 : number
}
