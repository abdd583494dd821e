/** GET /drain, on the metrics port only: a preStop hook's way to say that the pod is about to go. */
import type { Route } from '../route.ts'
import { textAnswer } from '../route.ts'

/** Begins draining; answers once it is over or its time is up. */
export type Drain = () => Promise<void>

export function drainRoute(drain: Drain): Route {
  return {
    method: 'GET',
    path: '/drain',
    summary: 'Stop taking connections, let open exchanges end, answer when done',
    gives: { status: 200, contentType: 'text/plain' },
    async answer() {
      await drain()
      return textAnswer(200, 'drained\n')
    },
  }
}
