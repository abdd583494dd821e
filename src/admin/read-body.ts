/** A request's body, whole: 1 MiB at most, 10 s at most. */
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../core/clock.ts'
import { Problem } from './problem.ts'

export const BODY_BYTES_MAX = 1_048_576
export const BODY_WAIT_MS = 10_000

/** Rejects with `Problem` 413 or 408; the caller closes the connection then. */
export function readBody(request: IncomingMessage, clock: Clock): Promise<Uint8Array> {
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) return Promise.reject(tooLong())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const timer = clock.after(BODY_WAIT_MS, () => fail(new Problem(408, `the body did not end within ${BODY_WAIT_MS / 1_000} s`, closing)))
    const fail = (problem: Problem): void => {
      timer.cancel()
      request.removeAllListeners('data').pause()
      reject(problem)
    }
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > BODY_BYTES_MAX) fail(tooLong())
      else chunks.push(chunk)
    })
    request.on('end', () => {
      timer.cancel()
      resolve(Buffer.concat(chunks))
    })
    request.on('error', () => fail(new Problem(400, 'the body broke off', closing)))
    request.on('close', () => fail(new Problem(400, 'the body broke off', closing)))
  })
}

const closing = { key: 'body', headers: { Connection: 'close' } }
const tooLong = (): Problem => new Problem(413, `the body is longer than ${BODY_BYTES_MAX} bytes`, closing)
