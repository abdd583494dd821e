/** Which headers cross a hop: RFC 9110 §7.6.1. Raw names, order and duplicates stay as they came. */
import type { RawHeaders } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'

const HOP_BY_HOP: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade'])

/** Without the connection's own headers: the fixed ones, and those that `Connection` names; never the body's length, or it would be read as a second message. */
export function endToEnd(rawHeaders: RawHeaders): string[] {
  const named = connectionOptions(rawHeaders)
  const kept: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    const key = name.toLowerCase()
    if (!HOP_BY_HOP.has(key) && !named.has(key)) kept.push(name, rawHeaders[at + 1] as string)
  }
  return kept
}

function connectionOptions(rawHeaders: RawHeaders): ReadonlySet<string> {
  const named = new Set<string>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if ((rawHeaders[at] as string).toLowerCase() !== 'connection') continue
    for (const option of (rawHeaders[at + 1] as string).split(',')) named.add(option.trim().toLowerCase())
  }
  named.delete('content-length')
  return named
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
  if (/\bchunked\b/i.test(headerOf(rawHeaders, 'transfer-encoding') ?? '')) return 'chunked'
  return headerOf(rawHeaders, 'content-length') === null ? 'none' : 'sized'
}

/** A `Trailer` announcement is void, and Node refuses it, where the body is not chunked. */
export function withoutTrailerHeader(rawHeaders: RawHeaders): string[] {
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
