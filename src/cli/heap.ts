/** How V8 is to keep the heap of a process whose pauses are seen by its clients. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Before anything is made. */
export function tuneHeap(): void {
  // A call outlives some collections of the young, and so may take what it is made of for long-lived: V8 would then make such objects old
  // from their birth, and each keeps what it points to until the next full collection (measured: half of all that survived did so by this).
  setFlagsFromString('--no-allocation-site-pretenuring')
  // After a quiet time V8 makes the young generation small, and doubles it again only when much has survived: for a second a burst would
  // be collected from sixteen times as often. So it grows back in one step.
  setFlagsFromString('--semi-space-growth-factor=16')
  // Little survives, and a sidecar seldom has more than one core: helpers would cost more than they take over.
  setFlagsFromString('--no-parallel-scavenge')
}

/** So much freed memory may lie at the end of the C heap before it goes back to the system. */
const FREE_BYTES_MAX = 33_554_432

/** So much room the old generation has before it must ask the system for more. */
const ROOM_BYTES = 8_388_608
const PIECE_WORDS = 30
const PIECE_BYTES = 8 * (PIECE_WORDS + 6)
/** A page on which nothing is left goes back to the system: one piece in so many stays, some on each page of 256 KB. */
const KEPT_EVERY = 256
const kept: unknown[] = []

/**
 * When all is loaded and nobody waits yet: some 60 ms. Else the first clients would: their first collections would move what the start
 * left, 1.5 MB in 15 ms each, and be followed by a full one.
 *
 * Room is made for what outlives two collections of the young: taken page by page from the system while clients wait, it doubled their
 * pauses (measured: 8.4 ms each while clients leave, and 4.8 with it).
 *
 * glibc gives memory back that is freed at the end of its heap, from 128 KB on, and takes it anew, page by page, for the next pieces of a
 * body: large bodies went seven times slower for it. Once a block that was mapped by itself has been freed, the bound is twice its size
 * (mallopt(3), M_MMAP_THRESHOLD); where there is another C library this is without effect.
 */
export function collectStart(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  Buffer.allocUnsafeSlow(FREE_BYTES_MAX / 2)
  const pieces = Array.from({ length: ROOM_BYTES / PIECE_BYTES }, () => Array(PIECE_WORDS).fill(0))
  collect()
  kept.push(...pieces.filter((_, at) => at % KEPT_EVERY === 0))
  pieces.length = 0
  collect()
}
