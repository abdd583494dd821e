/** Sets and removes headers of the request, the response, or both. */
import { z } from 'zod'
import type { SeatPlan } from '../core/seat.ts'
import type { RawHeaders } from '../core/signal.ts'
import { strict } from '../hops/shape.ts'
import { fired } from './body-shape.ts'
import { faultKind, seat } from './fault.ts'
import { headerName, headerValues, rawHeadersOf } from './fault-values.ts'

export interface HeaderEdit {
  readonly set: RawHeaders
  /** In lower case. */
  readonly remove: readonly string[]
}
export interface HeadersAsked {
  readonly request: HeaderEdit | null
  readonly response: HeaderEdit | null
}

export function headers(name: string, { request, response }: HeadersAsked): SeatPlan {
  return {
    name,
    sit: (out) => ({
      ...(request === null
        ? {}
        : {
            fromClient(signal) {
              if (signal.is !== 'request') return out.toServer(signal)
              fired(out)
              out.toServer({ ...signal, rawHeaders: edited(signal.rawHeaders, request) })
            },
          }),
      ...(response === null
        ? {}
        : {
            fromServer(signal) {
              if (signal.is !== 'head') return out.toClient(signal)
              fired(out)
              out.toClient({ ...signal, rawHeaders: edited(signal.rawHeaders, response) })
            },
          }),
    }),
  }
}

/** A set header takes the first place of its name; its other values go. Names and order of the rest stay as they came. */
export function edited(rawHeaders: RawHeaders, { set, remove }: HeaderEdit): RawHeaders {
  const left = new Map<string, readonly [string, string]>()
  for (let at = 0; at + 1 < set.length; at += 2) left.set((set[at] ?? '').toLowerCase(), [set[at] ?? '', set[at + 1] ?? ''])
  const replaced = new Set(left.keys())
  const result: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '']
    const lower = name.toLowerCase()
    const mine = left.get(lower)
    if (mine !== undefined) {
      result.push(...mine)
      left.delete(lower)
    } else if (!replaced.has(lower) && !remove.includes(lower)) result.push(name, value)
  }
  for (const pair of left.values()) result.push(...pair)
  return result
}

const edit = strict({ set: headerValues.optional(), remove: z.array(headerName).optional() })

function editOf(asked: z.output<typeof edit> | undefined): HeaderEdit | null {
  if (asked === undefined) return null
  return { set: rawHeadersOf(asked.set ?? {}), remove: (asked.remove ?? []).map((name) => name.toLowerCase()) }
}

export const headersFault = faultKind({
  key: 'headers',
  docs: 'Sets and removes headers of the request, the response, or both; those that frame a message are refused.',
  at: 'server',
  schema: strict({ request: edit.optional(), response: edit.optional() }).refine(
    ({ request, response }) => request !== undefined || response !== undefined,
    { error: 'expected request, response, or both' },
  ),
  deed: (name, asked) => seat(headers(name, { request: editOf(asked.request), response: editOf(asked.response) })),
})
