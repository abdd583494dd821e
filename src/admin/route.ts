/** What a route of the admin port is: data and one function. The server and the OpenAPI document read nothing else. */
import type { z } from 'zod'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface AdminRequest {
  readonly method: Method
  /** The path's `{names}`, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly accept: string
  /** 1 MiB at most; empty where there was none. */
  readonly body: Uint8Array
}

export interface AdminAnswer {
  readonly status: number
  /** `null`: no body. */
  readonly contentType: string | null
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export interface Route {
  readonly method: Method
  /** `/api/v1/calls/{id}`: a name in braces stands for one segment. */
  readonly path: string
  /** One line for the OpenAPI document and the index page. */
  readonly summary: string
  /** Answers without a token. */
  readonly isOpen?: true
  /** Not counted by the rate limit: what takes faults away must always get through, and so must reports of work. */
  readonly isUnlimited?: true
  readonly query?: Readonly<Record<string, string>>
  /** The JSON body it takes; null or absent: none. */
  readonly takes?: z.ZodType
  /** What a success looks like. */
  readonly gives?: { readonly status: number; readonly contentType: string | null; readonly schema?: z.ZodType }
  /** Throws `Problem` for the caller's mistakes. */
  answer(request: AdminRequest): Promise<AdminAnswer> | AdminAnswer
}

export const jsonAnswer = (status: number, value: unknown): AdminAnswer => ({
  status,
  contentType: 'application/json; charset=utf-8',
  body: `${JSON.stringify(value, null, 2)}\n`,
})
export const textAnswer = (status: number, body: string): AdminAnswer => ({ status, contentType: 'text/plain; charset=utf-8', body })
export const emptyAnswer = (status: number): AdminAnswer => ({ status, contentType: null, body: '' })
