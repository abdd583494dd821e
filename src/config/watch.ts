/**
 * Watches the configuration file. Editors rename over it and Kubernetes swaps a symlink beside it, so what is watched is its
 * folder (and the folder it really lies in); what counts is whether its content differs from what was read last.
 */
import { createHash } from 'node:crypto'
import { readFileSync, realpathSync, watch as watchPath } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock, Timer } from '../core/clock.ts'

export interface FileWatch {
  /** Reads it again now, changed or not: SIGHUP. */
  reread(): void
  close(): void
}

export interface FileWatchAsked {
  readonly file: string
  readonly clock: Clock
  /** The file's text. Throws the system's error. Absent: the system's. */
  readFile?(path: string): string
  /** Its content is another than when it was read last, or it was asked for; or it cannot be read any more. Must not throw. */
  changed(): void
  /** Calls back for anything that happens in the folder; throws where it cannot be watched. Absent: the system's. */
  watchFolder?(folder: string, happened: () => void): () => void
  /** The folder that the file really lies in. Absent: the system's. */
  realFolder?(file: string): string
}

/** Several events come for one change, and a file may be seen half written. */
export const SETTLE_MS = 100
/** Looks by itself so often: some file systems tell nothing, and a folder may be replaced whole. */
export const LOOK_EVERY_MS = 10_000

/** The file was read just before; from now on each change of its content is told once. */
export function watchFile(asked: FileWatchAsked): FileWatch {
  const { file, clock, changed, readFile = systemRead, watchFolder = systemWatch, realFolder = systemFolder } = asked
  let seen = hashOf(file, readFile)
  let watched = new Map<string, () => void>()
  let settling: Timer | null = null
  let looking: Timer | null = null
  let isClosed = false

  /** After each change anew: the symlinks may lead elsewhere now. */
  function watchFolders(): void {
    const folders = new Set([dirname(file), realFolder(file)])
    const kept = new Map([...watched].filter(([folder]) => folder === dirname(file)))
    for (const [folder, close] of watched) if (!kept.has(folder)) close()
    watched = kept
    for (const folder of folders) {
      if (watched.has(folder)) continue
      try {
        watched.set(folder, watchFolder(folder, happened))
      } catch {
        // Gone, or no more watches to be had: the look from time to time finds the change.
      }
    }
  }
  function happened(): void {
    if (isClosed) return
    settling?.cancel()
    settling = clock.after(SETTLE_MS, look)
  }
  function look(): void {
    settling = null
    if (isClosed) return
    const now = hashOf(file, readFile)
    watchFolders()
    if (now === seen) return
    seen = now
    changed()
  }
  function lookAgain(): void {
    look()
    if (!isClosed) looking = clock.after(LOOK_EVERY_MS, lookAgain)
  }

  watchFolders()
  looking = clock.after(LOOK_EVERY_MS, lookAgain)
  return {
    reread() {
      seen = hashOf(file, readFile)
      changed()
    },
    close() {
      isClosed = true
      settling?.cancel()
      looking?.cancel()
      for (const close of watched.values()) close()
      watched.clear()
    },
  }
}

/** Null: it cannot be read. */
function hashOf(file: string, readFile: (path: string) => string): string | null {
  try {
    return createHash('sha256').update(readFile(file)).digest('hex')
  } catch {
    return null
  }
}

const systemRead = (path: string): string => readFileSync(path, 'utf8')

function systemWatch(folder: string, happened: () => void): () => void {
  const watcher = watchPath(folder, { persistent: false }, happened)
  watcher.on('error', () => watcher.close())
  return () => watcher.close()
}

function systemFolder(file: string): string {
  try {
    return dirname(realpathSync(file))
  } catch {
    return dirname(file)
  }
}
