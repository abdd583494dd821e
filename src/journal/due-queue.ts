/** What falls due when, earliest first: a binary heap, since deadlines do not come in order. */

export interface DueQueue<T> {
  put(dueMs: number, item: T): void
  /** The earliest deadline; null where nothing waits. */
  nextMs(): number | null
  /** Takes the earliest. */
  take(): T | null
  size(): number
}

export function createDueQueue<T>(): DueQueue<T> {
  const heap: { readonly dueMs: number; readonly item: T }[] = []
  const dueAt = (index: number): number => heap[index]?.dueMs ?? Infinity

  function swap(a: number, b: number): void {
    const [first, second] = [heap[a], heap[b]]
    if (first === undefined || second === undefined) return
    heap[a] = second
    heap[b] = first
  }

  function sink(): void {
    for (let index = 0; ; ) {
      const left = 2 * index + 1
      const child = dueAt(left + 1) < dueAt(left) ? left + 1 : left
      if (dueAt(child) >= dueAt(index)) return
      swap(index, child)
      index = child
    }
  }

  return {
    put(dueMs, item) {
      heap.push({ dueMs, item })
      for (let index = heap.length - 1; index > 0; ) {
        const parent = (index - 1) >> 1
        if (dueAt(parent) <= dueAt(index)) return
        swap(parent, index)
        index = parent
      }
    },
    nextMs: () => heap[0]?.dueMs ?? null,
    take() {
      const first = heap[0]
      const last = heap.pop()
      if (first === undefined || last === undefined) return null
      if (heap.length > 0) {
        heap[0] = last
        sink()
      }
      return first.item
    },
    size: () => heap.length,
  }
}
