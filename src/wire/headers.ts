/** Which headers cross a hop: RFC 9110 §7.6.1. Raw names, order and duplicates stay as they came. */
import type { RawHeaders } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'

const HOP_BY_HOP: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade'])

/** Most names differ from all of these in length, and need not be put in lower case to tell. */
const HOP_BY_HOP_LENGTHS: ReadonlySet<number> = new Set([...HOP_BY_HOP].map(({ length }) => length))

/** Without the connection's own headers: the fixed ones, and those that `Connection` names; never the body's length, or it would be read as a second message. */
export function endToEnd(rawHeaders: RawHeaders): string[] {
  const named = connectionOptions(rawHeaders)
  const kept: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (named.size > 0 || HOP_BY_HOP_LENGTHS.has(name.length)) {
      const key = name.toLowerCase()
      if (HOP_BY_HOP.has(key) || named.has(key)) continue
    }
    kept.push(name, rawHeaders[at + 1] as string)
  }
  return kept
}

const NO_OPTIONS: ReadonlySet<string> = new Set()

function connectionOptions(rawHeaders: RawHeaders): ReadonlySet<string> {
  let named: Set<string> | null = null
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue
    named ??= new Set()
    for (const option of (rawHeaders[at + 1] as string).split(',')) named.add(option.trim().toLowerCase())
  }
  named?.delete('content-length')
  return named ?? NO_OPTIONS
}

/** All occurrences of `name` (lower case) replaced by one, in the place of the first, or added at the end. */
export function withHeader(rawHeaders: RawHeaders, name: string, value: string): string[] {
  const replaced: string[] = []
  let isPlaced = false
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at] as string
    if (raw.toLowerCase() !== name) replaced.push(raw, rawHeaders[at + 1] as string)
    else if (!isPlaced) {
      isPlaced = true
      replaced.push(raw, value)
    }
  }
  if (!isPlaced) replaced.push(name, value)
  return replaced
}

/** How a message's body is delimited, by its raw headers (RFC 9112 §6.3). */
export type Framing = 'chunked' | 'sized' | 'none'

export function framingOf(rawHeaders: RawHeaders): Framing {
  const coding = headerOf(rawHeaders, 'transfer-encoding')
  if (coding !== null && /\bchunked\b/i.test(coding)) return 'chunked'
  return headerOf(rawHeaders, 'content-length') === null ? 'none' : 'sized'
}

/** By a Content-Type; parameters may follow. */
export const isJson = (contentType: string | null): boolean =>
  contentType === 'application/json' || (contentType !== null && /^application\/json\b/i.test(contentType))

/** A `Trailer` announcement is void, and Node refuses it, where the body is not chunked. */
export function withoutTrailerHeader(rawHeaders: RawHeaders): RawHeaders {
  if (headerOf(rawHeaders, 'trailer') === null) return rawHeaders
  const kept: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if ((rawHeaders[at] as string).toLowerCase() !== 'trailer') kept.push(rawHeaders[at] as string, rawHeaders[at + 1] as string)
  }
  return kept
}

/** Trailers as `addTrailers` takes them. */
export function pairsOf(rawHeaders: RawHeaders): [string, string][] {
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) pairs.push([rawHeaders[at] as string, rawHeaders[at + 1] as string])
  return pairs
}

/** Whether an answer to this method, with this final status, has one whatever its fields say (RFC 9112 §6.3). */
export const mayHaveBody = (method: string | undefined, status: number): boolean => method !== 'HEAD' && status !== 204 && status !== 304
