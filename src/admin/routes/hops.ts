/** GET /api/v1/hops */
import type { Route } from '../route.ts'
import { jsonAnswer } from '../route.ts'

/** The presets as their files have them. */
export type ListPresets = () => readonly unknown[]

export function hopsRoute(list: ListPresets): Route {
  return {
    method: 'GET',
    path: '/api/v1/hops',
    summary: 'The presets: limits, manners, sources',
    gives: { status: 200, contentType: 'application/json' },
    answer: () => jsonAnswer(200, { hops: list() }),
  }
}
