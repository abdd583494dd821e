/** GET /healthz and GET /readyz: the process lives; it takes connections. Neither asks the upstream. */
import type { Route } from '../route.ts'
import { textAnswer } from '../route.ts'

/** Null: ready; else one line that says why not. */
export type WhyNotReady = () => string | null

export const healthzRoute: Route = {
  method: 'GET',
  path: '/healthz',
  summary: 'The process is alive',
  isOpen: true,
  isUnlimited: true,
  gives: { status: 200, contentType: 'text/plain' },
  answer: () => textAnswer(200, 'ok\n'),
}

export function readyzRoute(whyNotReady: WhyNotReady): Route {
  return {
    method: 'GET',
    path: '/readyz',
    summary: 'Listening and not draining, whatever the upstream does; else 503',
    isOpen: true,
    isUnlimited: true,
    gives: { status: 200, contentType: 'text/plain' },
    answer() {
      const why = whyNotReady()
      return why === null ? textAnswer(200, 'ready\n') : textAnswer(503, `${why}\n`)
    },
  }
}
