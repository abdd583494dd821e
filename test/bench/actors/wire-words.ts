/** What the benchmark's client and server agree on: requests, events with a time stamp inside, and how to read them back. */
import { hrtime } from 'node:process'

/** Microseconds of the machine's monotonic clock: the same in every process. */
export const nowUs = (): number => Number(hrtime.bigint()) / 1e3

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function argOf(name: string, fallback: string): string {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : (process.argv[at + 1] ?? fallback)
}

const REQUEST_BYTES = 200
const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { x: 'z'.repeat(110) } } })
const requestBody = call.padEnd(REQUEST_BYTES, ' ')

/** A `tools/call` as an SDK client sends it. */
export function requestOf(host: string, path: string): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${requestBody.length}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${requestBody}`, 'latin1')
}

const STAMP_DIGITS = 18
const MARK = Buffer.from('"t":"')
const eventOf = (stamp: string, pad: string): string =>
  `event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"t":"${stamp}","p":"${pad}"}}\n\n`
const EVENT_BYTES = 150
const PAD = 'y'.repeat(EVENT_BYTES - eventOf('0'.repeat(STAMP_DIGITS), '').length)

/** One event of 150 bytes in a chunk of its own, stamped with the time it was made. */
export const stampedChunk = (): string => {
  const stamp = nowUs().toFixed(1).padStart(STAMP_DIGITS, '0')
  return `${EVENT_BYTES.toString(16)}\r\n${eventOf(stamp, PAD)}\r\n`
}

/** Finds the stamps in a body, whatever its pieces. */
export function createStampReader(take: (stampUs: number) => void): (bytes: Buffer) => void {
  let carry: Buffer | null = null
  return (piece) => {
    const bytes = carry === null ? piece : Buffer.concat([carry, piece])
    carry = null
    for (let from = 0; ; ) {
      const at = bytes.indexOf(MARK, from)
      if (at < 0) {
        if (bytes.lastIndexOf(10) !== bytes.length - 1) carry = Buffer.from(bytes.subarray(Math.max(from, bytes.length - EVENT_BYTES - 10)))
        return
      }
      const end = at + MARK.length + STAMP_DIGITS
      if (end > bytes.length) {
        carry = Buffer.from(bytes.subarray(at))
        return
      }
      take(Number(bytes.toString('latin1', at + MARK.length, end)))
      from = end
    }
  }
}

export interface BodyReader {
  feed(bytes: Buffer): void
  readonly status: () => number
}

/** Reads one response: its head, then the payload of a chunked body, or the bytes of any other. */
export function createBodyReader(onBody: (bytes: Buffer) => void, onEnd: () => void): BodyReader {
  let mode: 'head' | 'size' | 'payload' | 'after' | 'raw' | 'done' = 'head'
  let text = ''
  let status = 0
  let left = 0

  function readHead(bytes: Buffer): number {
    const before = text.length
    text += bytes.toString('latin1')
    const headEnd = text.indexOf('\r\n\r\n')
    if (headEnd < 0) return bytes.length
    status = Number(text.slice(9, 12))
    mode = /transfer-encoding: chunked/i.test(text.slice(0, headEnd)) ? 'size' : 'raw'
    text = ''
    return headEnd + 4 - before
  }

  function readSize(bytes: Buffer, from: number): number {
    const lineEnd = bytes.indexOf(10, from)
    text += bytes.toString('latin1', from, lineEnd < 0 ? bytes.length : lineEnd)
    if (lineEnd < 0) return bytes.length
    left = Number.parseInt(text, 16)
    text = ''
    mode = left === 0 ? 'done' : 'payload'
    if (mode === 'done') onEnd()
    return lineEnd + 1
  }

  function readPayload(bytes: Buffer, from: number): number {
    const until = Math.min(bytes.length, from + left)
    onBody(bytes.subarray(from, until))
    left -= until - from
    if (left === 0) {
      mode = 'after'
      left = 2
    }
    return until
  }

  function feed(bytes: Buffer): void {
    let at = mode === 'head' ? readHead(bytes) : 0
    while (at < bytes.length && mode !== 'done') {
      if (mode === 'size') at = readSize(bytes, at)
      else if (mode === 'payload') at = readPayload(bytes, at)
      else if (mode === 'raw') {
        onBody(bytes.subarray(at))
        return
      } else {
        const skipped = Math.min(left, bytes.length - at)
        left -= skipped
        at += skipped
        if (left === 0) mode = 'size'
      }
    }
  }
  return { feed, status: () => status }
}
