/** `inject: meta`: the request waits at the server's edge until it is whole, and gets our span as its parent inside `params._meta`. */
import type { RawHeaders, Request } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'
import { spliceMeta } from '../core/trace-context.ts'
import { MEANING_BYTES_MAX } from './collector.ts'
import { isJson, withHeader } from './headers.ts'

export interface HeldRequest {
  readonly request: Request
  readonly pieces: Uint8Array[]
  bytes: number
}

export interface SplicedRequest {
  readonly request: Request
  readonly body: Uint8Array
}

/** Only a plain JSON body can be spliced; anything else goes as it came. */
export function canSplice({ method, rawHeaders }: Pick<Request, 'method' | 'rawHeaders'>): boolean {
  return method === 'POST' && isJson(headerOf(rawHeaders, 'content-type')) && headerOf(rawHeaders, 'content-encoding') === null
}

export const isTooLongToSplice = ({ bytes }: HeldRequest): boolean => bytes > MEANING_BYTES_MAX

/** The whole request with `traceparent` in each of its calls' `_meta`, and its Content-Length mended; unchanged where that is impossible. */
export function spliceRequest({ request, pieces }: HeldRequest, traceparent: string): SplicedRequest {
  const body = Buffer.concat(pieces)
  const spliced = spliceMeta(body, traceparent)
  if (spliced === null) return { request, body }
  return { request: { ...request, rawHeaders: withLength(request.rawHeaders, spliced.length) }, body: spliced }
}

const withLength = (rawHeaders: RawHeaders, bytes: number): RawHeaders =>
  headerOf(rawHeaders, 'content-length') === null ? rawHeaders : withHeader(rawHeaders, 'content-length', String(bytes))
