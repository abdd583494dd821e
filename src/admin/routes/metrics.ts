/** GET /metrics */
import type { Route } from '../route.ts'

/** Renders the metrics in the format that `accept` prefers. */
export type RenderMetrics = (accept: string) => Promise<{ readonly contentType: string; readonly text: string }>

export function metricsRoute(render: RenderMetrics): Route {
  return {
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics for Prometheus: text, or OpenMetrics where Accept prefers it',
    gives: { status: 200, contentType: 'text/plain' },
    async answer({ accept }) {
      const { contentType, text } = await render(accept)
      return { status: 200, contentType, body: text }
    },
  }
}
