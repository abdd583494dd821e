/** GET /drain, on the metrics port only: a preStop hook's way to say that the pod is about to go. */
import type { Route } from '../route.ts'
import { textAnswer } from '../route.ts'

/** Begins draining; once it is over or its time is up: how many calls go on. */
export type Drain = () => Promise<number>

export function drainRoute(drain: Drain): Route {
  return {
    method: 'GET',
    path: '/drain',
    summary:
      'Not ready and no new connections from now on; answers when open calls are over or the time of --drain is up. The process waits for SIGTERM',
    gives: { status: 200, contentType: 'text/plain' },
    async answer() {
      const open = await drain()
      return textAnswer(200, open === 0 ? 'drained\n' : `the time is up: ${open} ${open === 1 ? 'call goes' : 'calls go'} on\n`)
    },
  }
}
