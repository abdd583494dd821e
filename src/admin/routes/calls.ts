/** GET /api/v1/calls */
import type { CallRecord } from '../../core/record.ts'
import { Problem } from '../problem.ts'
import type { Route } from '../route.ts'
import { jsonAnswer } from '../route.ts'

/** `isOpen`: only those whose stream or work goes on. Newest first. */
export type ListCalls = (asked: { readonly isOpen: boolean }) => readonly CallRecord[]

export function callsRoute(list: ListCalls): Route {
  return {
    method: 'GET',
    path: '/api/v1/calls',
    summary: 'Records of recent calls, newest first; with open=true of open ones only',
    query: { open: 'true: open calls only' },
    gives: { status: 200, contentType: 'application/json' },
    answer({ query }) {
      const open = query.get('open') ?? 'false'
      if (open !== 'true' && open !== 'false') throw new Problem(400, `open: expected true or false, got "${open}"`, { key: 'open' })
      return jsonAnswer(200, { calls: list({ isOpen: open === 'true' }) })
    },
  }
}
