/** `--events FILE|-`: one JSON line per call, at its settlement. Never blocks and never fails an exchange: what it cannot take it drops and counts. */
import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Log } from '../core/log.ts'
import type { Sink } from '../journal/sink.ts'

export interface EventsAsked {
  /** Appended to; `-`: lines go to `writeOut`. */
  readonly file: string | '-'
  /** Of the file, or of what was written out: on reaching it nothing more is written. */
  readonly bytesMax: number
  writeOut(text: string): void
  readonly log: Log
  /** Told of every line that was not written. */
  dropped(count: number): void
}

interface Target {
  /** False: it takes no more for now. */
  write(line: string): boolean
  close(): Promise<void>
}

/** Lines that wait for a slow disk; beyond, they are dropped. */
const BACKLOG_BYTES_MAX = 8 * 1_048_576

/** Rejects with the system's error where the file cannot be opened. */
export async function createEventsSink(asked: EventsAsked): Promise<Sink> {
  const { file, bytesMax, log, dropped } = asked
  const isOut = file === '-'
  const { target, bytesBefore } = isOut ? { target: outTarget(asked), bytesBefore: 0 } : await fileTarget(asked, file)
  let bytes = bytesBefore
  let isFull = false
  return {
    name: 'events',
    settled(record) {
      const line = `${JSON.stringify(record)}\n`
      if (!isFull && bytes + Buffer.byteLength(line) > bytesMax) {
        isFull = true
        log.warn('the events file is full: no more lines are written (--events-max)', { file, bytesMax })
      }
      if (isFull || !target.write(line)) return dropped(1)
      bytes += Buffer.byteLength(line)
    },
    close: target.close,
  }
}

function outTarget({ writeOut }: EventsAsked): Target {
  return {
    write(line) {
      writeOut(line)
      return true
    },
    close: async () => undefined,
  }
}

async function fileTarget({ log }: EventsAsked, file: string): Promise<{ target: Target; bytesBefore: number }> {
  const handle = await open(file, 'a')
  const { size } = await handle.stat()
  const stream = createWriteStream(file, { fd: handle, encoding: 'utf8' })
  let hasFailed = false
  let isBehind = false
  stream.on('error', (error) => {
    if (!hasFailed) log.error('the events file cannot be written: no more lines are', { file, error: error.message })
    hasFailed = true
  })
  return {
    bytesBefore: size,
    target: {
      write(line) {
        if (hasFailed) return false
        if (stream.writableLength > BACKLOG_BYTES_MAX) {
          if (!isBehind) log.warn('the events file is slower than the calls: lines are dropped', { file })
          isBehind = true
          return false
        }
        stream.write(line)
        return true
      },
      close: () =>
        new Promise((resolve) => {
          if (hasFailed) return resolve()
          stream.once('error', () => resolve())
          stream.end(() => resolve())
        }),
    },
  }
}
