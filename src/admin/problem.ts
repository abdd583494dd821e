/** The caller's mistakes, as RFC 9457 `application/problem+json` that names the key and the remedy. */
import type { z } from 'zod'
import { placeOf, problemsOf } from '../hops/shape.ts'
import type { AdminAnswer, AdminRequest } from './route.ts'

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** Thrown by a route or a check; the server answers it. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  /** The key at fault: `do.cut.after`, `Host`; null where none is. */
  readonly key: string | null
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    detail: string,
    { key = null, headers = {} }: { key?: string | null; headers?: Record<string, string> } = {},
  ) {
    super(detail)
    this.status = status
    this.key = key
    this.headers = headers
  }
}

export function problemAnswer({ status, message, key, headers }: Problem): AdminAnswer {
  const body = { type: 'about:blank', title: TITLES[status] ?? 'Error', status, detail: message, ...(key === null ? {} : { key }) }
  return { status, contentType: 'application/problem+json', body: `${JSON.stringify(body)}\n`, headers }
}

/** The body as JSON. Throws `Problem` 400. */
export function jsonOf({ body }: AdminRequest): unknown {
  if (body.length === 0) throw new Problem(400, 'a JSON body is expected, got none', { key: 'body' })
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    throw new Problem(400, `the body is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`, { key: 'body' })
  }
}

/** The body as the schema has it. Throws `Problem` 422 that names the first key at fault. */
export function bodyAs<T>(request: AdminRequest, schema: z.ZodType<T>): T {
  const read = schema.safeParse(jsonOf(request))
  if (read.success) return read.data
  const [problem] = problemsOf(read.error.issues)
  const key = placeOf(problem?.path ?? []) || 'body'
  throw new Problem(422, `${key}: ${problem?.message ?? 'invalid'}`, { key })
}
