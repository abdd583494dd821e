/** What the machine refuses at the start, in words: which flag, what was expected, and what to do. */
import { dirname } from 'node:path'
import type { Settings } from '../config/snapshot.ts'
import { PortTaken } from '../core/port-taken.ts'

/** Null: the error is none of the machine's, but ours. */
export function refusalInWords(error: unknown, { events }: Pick<Settings, 'events'>): string | null {
  if (error instanceof PortTaken) return error.message
  if (!isSystemError(error)) return null
  if (events !== null && (error.path === events.file || error.syscall === 'open')) return eventsInWords(events.file, error)
  return error.message
}

function eventsInWords(file: string, { code }: NodeJS.ErrnoException): string {
  const why: Readonly<Record<string, string>> = {
    ENOENT: `there is no folder ${dirname(file)}: make it, or name another`,
    ENOTDIR: `${dirname(file)} is no folder: name another`,
    EISDIR: 'it is a folder: name a file in it',
    EACCES: 'this user may not write it: name another, or change its rights',
    EROFS: 'it is on a file system that is only read: name another',
  }
  return `--events: expected a file to append to, got ${JSON.stringify(file)}: ${why[code ?? ''] ?? `it cannot be written (${code ?? 'unknown'}): name another`}`
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && 'syscall' in error && 'code' in error
