/** What falls due when, earliest first: a binary heap whose items know their place, so that one that waits no more leaves at once. */

export interface Due<T> {
  dueMs: number
  readonly item: T
  /** Its place in the heap; -1 when it is out. */
  place: number
}

export interface DueQueue<T> {
  put(dueMs: number, item: T): Due<T>
  remove(due: Due<T>): void
  /** To another time, whether it waits or not. */
  move(due: Due<T>, dueMs: number): void
  /** The earliest; null where nothing waits. */
  first(): Due<T> | null
  size(): number
}

export function createDueQueue<T>(): DueQueue<T> {
  const heap: Due<T>[] = []
  const dueAt = (place: number): number => heap[place]?.dueMs ?? Infinity

  function seat(due: Due<T>, place: number): void {
    heap[place] = due
    due.place = place
  }

  function swap(a: number, b: number): void {
    const [first, second] = [heap[a], heap[b]]
    if (first === undefined || second === undefined) return
    seat(first, b)
    seat(second, a)
  }

  function rise(from: number): void {
    for (let place = from; place > 0; ) {
      const parent = (place - 1) >> 1
      if (dueAt(parent) <= dueAt(place)) return
      swap(place, parent)
      place = parent
    }
  }

  function sink(from: number): void {
    for (let place = from; ; ) {
      const left = 2 * place + 1
      const child = dueAt(left + 1) < dueAt(left) ? left + 1 : left
      if (dueAt(child) >= dueAt(place)) return
      swap(place, child)
      place = child
    }
  }

  function remove(due: Due<T>): void {
    const { place } = due
    if (place < 0) return
    due.place = -1
    const last = heap.pop()
    if (last === undefined || last === due) return
    seat(last, place)
    sink(place)
    rise(place)
  }

  function add(due: Due<T>): void {
    due.place = heap.length
    heap.push(due)
    rise(due.place)
  }

  return {
    put(dueMs, item) {
      const due: Due<T> = { dueMs, item, place: -1 }
      add(due)
      return due
    },
    remove,
    move(due, dueMs) {
      remove(due)
      due.dueMs = dueMs
      add(due)
    },
    first: () => heap[0] ?? null,
    size: () => heap.length,
  }
}
