/** A request's body within limits: read, and inflated where it came compressed. */
import type { Readable } from 'node:stream'
import { gunzip } from 'node:zlib'

export type ReadBody =
  | { readonly is: 'body'; readonly bytes: Buffer }
  | { readonly is: 'too_large' }
  /** The receiver holds as much as it may of all senders together. */
  | { readonly is: 'too_many' }
  | { readonly is: 'broken' }

/** Bytes that many requests may hold together. */
export interface ByteBudget {
  take(bytes: number): boolean
  give(bytes: number): void
}

export function createByteBudget(bytesMax: number): ByteBudget {
  let held = 0
  return {
    take(bytes) {
      if (held + bytes > bytesMax) return false
      held += bytes
      return true
    },
    give(bytes) {
      held -= bytes
    },
  }
}

/** Reads to the end. What is beyond a limit is let run by unheld, so that the sender can read the answer. The caller gives the bytes back. */
export function readBody(from: Readable, bytesMax: number, budget: ByteBudget): Promise<ReadBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    let isOver = false
    const stop = (read: ReadBody): void => {
      if (isOver) return
      isOver = true
      from.off('data', take)
      if (read.is !== 'body') {
        budget.give(bytes)
        from.resume()
      }
      resolve(read)
    }
    const take = (chunk: Buffer): void => {
      if (bytes + chunk.length > bytesMax) return stop({ is: 'too_large' })
      if (!budget.take(chunk.length)) return stop({ is: 'too_many' })
      bytes += chunk.length
      chunks.push(chunk)
    }
    from.on('data', take)
    from.once('end', () => stop({ is: 'body', bytes: Buffer.concat(chunks, bytes) }))
    from.once('error', () => stop({ is: 'broken' }))
    from.once('close', () => stop({ is: 'broken' }))
  })
}

export type Inflated = { readonly is: 'body'; readonly bytes: Buffer } | { readonly is: 'too_large' } | { readonly is: 'broken' }

/** Inflates one body at a time, so that together they never hold more than one may. */
export function createInflater(bytesMax: number): (bytes: Uint8Array) => Promise<Inflated> {
  let last: Promise<unknown> = Promise.resolve()
  return (bytes) => {
    const inflated = last.then(() => inflate(bytes, bytesMax))
    last = inflated
    return inflated
  }
}

function inflate(bytes: Uint8Array, bytesMax: number): Promise<Inflated> {
  return new Promise((resolve) => {
    gunzip(bytes, { maxOutputLength: bytesMax }, (error, result) => {
      if (error === null) resolve({ is: 'body', bytes: result })
      else resolve({ is: (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'broken' })
    })
  })
}
