/** A bar for work that takes seconds, where people watch; nothing where the output is piped. */
import type { Printer } from './world.ts'

export interface ProgressBar {
  /** So many are done. Drawn anew only where that shows. */
  at(done: number): void
  /** Takes the bar away. */
  clear(): void
}

const WIDTH = 30

/** `noun` in the plural: `calls`. */
export function createProgressBar({ write, isTerminal }: Printer, total: number, noun: string): ProgressBar {
  if (isTerminal !== true || total === 0) return { at: () => undefined, clear: () => undefined }
  let shownPercent = -1
  return {
    at(done) {
      const percent = Math.floor((done / total) * 100)
      if (percent === shownPercent) return
      shownPercent = percent
      const filled = Math.round((percent / 100) * WIDTH)
      write(`\r[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${String(percent).padStart(3)}%  ${done} of ${total} ${noun}`)
    },
    clear: () => write('\r\x1b[K'),
  }
}
