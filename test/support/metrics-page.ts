/** The metrics' page as a scraper reads it. */
import type { Metrics } from '../../src/sinks/metrics/index.ts'

export async function pageOf(metrics: Metrics, accept?: string): Promise<{ readonly contentType: string; readonly body: string }> {
  const { contentType, body } = await metrics.render(accept)
  return { contentType, body: body.toString() }
}
