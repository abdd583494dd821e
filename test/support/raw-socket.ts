/** One TCP connection as a test sees it: bytes out, bytes in with their times, and how the other side ended it. Times are `performance.now()`. */
import type { Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { RawRequest, RawResponse } from './raw-http.ts'
import { readMessage } from './raw-http.ts'

export interface Ended {
  /** `fin`: the peer finished its side; `rst`: it broke the connection. */
  readonly how: 'fin' | 'rst'
  readonly atMs: number
}

export interface RawSocket {
  readonly socket: Socket
  /** Latin1 text or bytes; true once the kernel took them, false if the connection broke before. */
  send(bytes: string | Uint8Array): Promise<boolean>
  /** FIN: half-close; reading goes on. */
  fin(): void
  rst(): void
  /** Reads nothing from now on: the peer will feel it when the buffers are full. */
  pause(): void
  resume(): void
  /** All that came so far. */
  bytes(): Buffer
  text(): string
  /** What came, piece by piece. */
  readonly pieces: readonly { readonly atMs: number; readonly bytes: Buffer }[]
  /** Resolves with all text so far as soon as it contains `what`; the error shows what came instead. */
  until(what: string | RegExp, limitMs?: number): Promise<string>
  /** The time at which the text came to contain `what`; null: not yet. */
  arrivalOf(what: string): number | null
  /** The next whole request; a request cut short by an ending is given with `isWhole: false`. */
  request(limitMs?: number): Promise<RawRequest>
  /** The next response with its interims; one cut short by an ending is given with `isWhole: false`. `method`: what was asked. */
  response(options?: { readonly method?: string; readonly limitMs?: number }): Promise<RawResponse>
  /** How the peer ended first; null: not yet. A FIN followed by a reset stays `fin`; see `brokeAtMs`. */
  ended(): Ended | null
  /** A reset, also after a FIN. */
  brokeAtMs(): number | null
  untilEnded(limitMs?: number): Promise<Ended>
  /** Bytes written here that the kernel has not taken. */
  queuedBytes(): number
  close(): void
}

export const WAIT_MS = 10_000

/** Wraps a socket made with `allowHalfOpen`. `answersFin`: a peer's FIN is answered with ours at once, as nearly every program does. */
export function rawSocket(socket: Socket, { answersFin = true }: { answersFin?: boolean } = {}): RawSocket {
  const pieces: { atMs: number; bytes: Buffer }[] = []
  const waiters = new Set<() => void>()
  let ended: Ended | null = null
  let brokeAtMs: number | null = null
  let usedBytes = 0
  let store = Buffer.alloc(4_096)
  let stored = 0
  const bytes = (): Buffer => store.subarray(0, stored)
  const keep = (piece: Buffer): void => {
    if (stored + piece.length > store.length) store = Buffer.concat([bytes(), Buffer.alloc(stored + piece.length)])
    piece.copy(store, stored)
    stored += piece.length
  }
  const changed = (): void => {
    for (const waiter of [...waiters]) waiter()
  }
  socket.setNoDelay(true)
  socket.on('data', (piece) => {
    pieces.push({ atMs: performance.now(), bytes: piece })
    keep(piece)
    changed()
  })
  socket.on('end', () => {
    const atMs = performance.now()
    if (isReset(socket)) brokeAtMs ??= atMs
    ended ??= { how: brokeAtMs === null ? 'fin' : 'rst', atMs }
    if (answersFin) socket.end()
    changed()
  })
  socket.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'ECONNRESET' && code !== 'EPIPE') return
    brokeAtMs ??= performance.now()
    ended ??= { how: 'rst', atMs: brokeAtMs }
    changed()
  })
  socket.on('close', changed)

  const wait = <T>(what: string, limitMs: number, look: () => T | null): Promise<T> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => give(() => reject(new Error(`waited ${limitMs} ms for ${what}; ${told()}`))), limitMs)
      const give = (settle: () => void): void => {
        clearTimeout(timer)
        waiters.delete(check)
        settle()
      }
      const check = (): void => {
        try {
          const found = look()
          if (found !== null) give(() => resolve(found))
          else if (socket.closed && ended === null) give(() => reject(new Error(`closed here while waiting for ${what}; ${told()}`)))
        } catch (problem) {
          give(() => reject(problem))
        }
      }
      waiters.add(check)
      check()
    })
  const told = (): string => `came: ${JSON.stringify(bytes().toString('latin1').slice(-2_000))}, ended: ${ended?.how ?? 'no'}`
  const message = (of: 'request' | 'response', method: string) => {
    const isOver = ended !== null
    const read = readMessage(bytes().subarray(usedBytes), { of, method, isOver })
    if (read === null && isOver) throw new Error(`the ${of} never came; ${told()}`)
    if (read === null) return null
    // An EOF-delimited answer that ended in a reset is not whole.
    const isWhole = read.message.isWhole && !(read.message.framing === 'eof' && ended?.how === 'rst')
    usedBytes += read.used
    return { ...read.message, isWhole }
  }

  return {
    socket,
    send: (what) =>
      new Promise((resolve) => {
        socket.write(typeof what === 'string' ? Buffer.from(what, 'latin1') : what, (problem) => resolve(problem == null))
      }),
    fin: () => void socket.end(),
    rst: () => void socket.resetAndDestroy(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    bytes,
    text: () => bytes().toString('latin1'),
    pieces,
    until: (what, limitMs = WAIT_MS) =>
      wait(String(what), limitMs, () => {
        const text = bytes().toString('latin1')
        if (typeof what === 'string' ? text.includes(what) : what.test(text)) return text
        if (ended !== null) throw new Error(`ended before ${what}; ${told()}`)
        return null
      }),
    arrivalOf(what) {
      let text = ''
      for (const piece of pieces) {
        text += piece.bytes.toString('latin1')
        if (text.includes(what)) return piece.atMs
      }
      return null
    },
    request: (limitMs = WAIT_MS) =>
      wait('a request', limitMs, () => {
        const read = message('request', '')
        const [method = '', target = ''] = read?.startLine.split(' ') ?? []
        return read === null ? null : { ...read, method, target }
      }),
    async response({ method = 'POST', limitMs = WAIT_MS } = {}) {
      const interims: RawResponse[] = []
      for (;;) {
        const read = await wait('a response', limitMs, () => message('response', method))
        const [, status = '', ...reason] = read.startLine.split(' ')
        const response: RawResponse = { ...read, status: Number(status), reason: reason.join(' '), interims }
        if (response.status >= 200 || response.status === 101) return response
        interims.push(response)
      }
    },
    ended: () => ended,
    brokeAtMs: () => brokeAtMs,
    untilEnded: (limitMs = WAIT_MS) => wait('the end', limitMs, () => ended),
    queuedBytes: () => socket.writableLength,
    close: () => void socket.destroy(),
  }
}

/**
 * Data and a reset that arrive in one poll reach Node as data and `end` (libuv takes the hang-up for an EOF).
 * The kernel still knows: a reset connection has no peer. Asked of the handle, as the socket keeps the first answer.
 * After a FIN of our own a finished connection has none either: then an `end` is a FIN.
 */
function isReset(socket: Socket): boolean {
  if (socket.writableEnded) return false
  const { _handle: handle } = socket as unknown as { _handle?: { getpeername(out: object): number } | null }
  return handle == null || handle.getpeername({}) !== 0
}

/** Runs `close` when the current test is over; outside a test (`beforeAll`) closing is the caller's. */
export function whenTestEnds(close: () => unknown): void {
  try {
    onTestFinished(() => void close())
  } catch {
    // not inside a test
  }
}
