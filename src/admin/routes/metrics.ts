/** GET /metrics */
import type { Route } from '../route.ts'

/** Renders the metrics in the format that `accept` prefers. */
export type RenderMetrics = (accept: string) => Promise<{ readonly contentType: string; readonly body: Uint8Array }>

export function metricsRoute(render: RenderMetrics): Route {
  return {
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics for Prometheus: text, or OpenMetrics where Accept prefers it',
    gives: { status: 200, contentType: 'text/plain' },
    async answer({ accept }) {
      return { status: 200, ...(await render(accept)) }
    },
  }
}
