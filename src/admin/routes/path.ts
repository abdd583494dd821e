/** GET /api/v1/path */
import type { Route } from '../route.ts'
import { jsonAnswer } from '../route.ts'

/** The path in force, client side first, with its effective limits. */
export type ShowPath = () => unknown

export function showPathRoute(show: ShowPath): Route {
  return {
    method: 'GET',
    path: '/api/v1/path',
    summary: 'The hops in force, client side first, and the effective limits',
    gives: { status: 200, contentType: 'application/json' },
    answer: () => jsonAnswer(200, show()),
  }
}
