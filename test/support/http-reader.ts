/** Reads one direction of an HTTP/1.1 connection piece by piece: heads, and bodies by length, in chunks, or to the end. For recorded traces. */
import type { RawHeaders } from '../../src/core/signal.ts'
import { headerOf } from '../../src/core/signal.ts'

export type HttpSaid =
  | { readonly is: 'head'; readonly first: string; readonly rawHeaders: RawHeaders }
  | { readonly is: 'body'; readonly bytes: Uint8Array }
  | { readonly is: 'end' }

/** What is still to come of a body: so many bytes, chunks, or all until the connection ends. */
type Rest = number | 'chunks' | 'all' | null

export interface HttpReader {
  feed(bytes: Uint8Array, take: (said: HttpSaid) => void): void
}

/** An answer that gives no length goes on to the end of its connection, unless its status has no body; such a request has none. */
export function createHttpReader(isAnswer: boolean): HttpReader {
  let held: Uint8Array = new Uint8Array(0)
  let rest: Rest = null

  function step(take: (said: HttpSaid) => void): boolean {
    if (rest === null) return readHead(take)
    if (rest === 'chunks') return readChunk(take)
    if (held.length === 0) return false
    const bytes = rest === 'all' ? held : held.subarray(0, rest)
    held = held.subarray(bytes.length)
    take({ is: 'body', bytes })
    if (rest !== 'all') rest = rest === bytes.length ? end(take) : rest - bytes.length
    return true
  }

  function end(take: (said: HttpSaid) => void): null {
    take({ is: 'end' })
    return null
  }

  function readHead(take: (said: HttpSaid) => void): boolean {
    const text = Buffer.from(held).toString('latin1')
    const until = text.indexOf('\r\n\r\n')
    if (until < 0) return false
    held = held.subarray(until + 4)
    const [first = '', ...lines] = text.slice(0, until).split('\r\n')
    const rawHeaders = lines.flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
    take({ is: 'head', first, rawHeaders })
    rest = restOf(first, rawHeaders)
    if (rest === 0) rest = end(take)
    return true
  }

  function restOf(first: string, rawHeaders: RawHeaders): Rest {
    if (/chunked/i.test(headerOf(rawHeaders, 'transfer-encoding') ?? '')) return 'chunks'
    const length = headerOf(rawHeaders, 'content-length')
    if (length !== null) return Number(length)
    return isAnswer && !/^HTTP\/1\.1 (1\d\d|204|304)/.test(first) ? 'all' : 0
  }

  function readChunk(take: (said: HttpSaid) => void): boolean {
    const text = Buffer.from(held).toString('latin1')
    const line = text.indexOf('\r\n')
    if (line < 0) return false
    const size = Number.parseInt(text.slice(0, line), 16)
    if (held.length < line + 2 + size + 2) return false
    const bytes = held.subarray(line + 2, line + 2 + size)
    held = held.subarray(line + 2 + size + 2)
    if (size > 0) take({ is: 'body', bytes })
    else rest = end(take)
    return true
  }

  return {
    feed(bytes, take) {
      held = held.length === 0 ? bytes : Buffer.concat([held, bytes])
      while (step(take)) if (held.length === 0 && rest !== 0) break
    },
  }
}
