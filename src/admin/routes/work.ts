/** POST /api/v1/work */
import { z } from 'zod'
import { jsonOf, Problem } from '../problem.ts'
import type { Route } from '../route.ts'
import { emptyAnswer } from '../route.ts'

/** Takes one probe message. `problem`: what is wrong with it, naming the key. */
export type TakeProbeMessage = (json: unknown) => { readonly status: 202 | 400; readonly problem?: string }

/** For the OpenAPI document; the taker judges. */
const probeMessage = z.object({
  event: z.enum(['start', 'end', 'abort']),
  traceparent: z.string(),
  requestId: z.union([z.string(), z.number()]).optional(),
  at: z.number().optional().describe('Unix milliseconds'),
  outcome: z.enum(['ok', 'error', 'aborted']).optional(),
})

export function workRoute(take: TakeProbeMessage): Route {
  return {
    method: 'POST',
    path: '/api/v1/work',
    summary: "A server's report that work for a call started, ended or stopped",
    isUnlimited: true,
    takes: probeMessage,
    gives: { status: 202, contentType: null },
    answer(request) {
      const { status, problem } = take(jsonOf(request))
      if (status === 400) throw new Problem(400, problem ?? 'no probe message', { key: 'body' })
      return emptyAnswer(202)
    },
  }
}
