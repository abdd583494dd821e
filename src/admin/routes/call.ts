/** GET /api/v1/calls/{id} */
import type { CallRecord } from '../../core/record.ts'
import { Problem } from '../problem.ts'
import type { Route } from '../route.ts'
import { jsonAnswer } from '../route.ts'

export type FindCall = (id: string) => CallRecord | null

export function callRoute(find: FindCall): Route {
  return {
    method: 'GET',
    path: '/api/v1/calls/{id}',
    summary: "One call's record",
    gives: { status: 200, contentType: 'application/json' },
    answer({ params }) {
      const id = params['id'] ?? ''
      const record = find(id)
      if (record === null) throw new Problem(404, `no call "${id}" among the recent ones; GET /api/v1/calls lists them`, { key: 'id' })
      return jsonAnswer(200, record)
    },
  }
}
