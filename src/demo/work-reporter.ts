/** Tells the sidecar what the demo's server is doing, as any server may: one small JSON message per start and end. */

export interface ReportedCall {
  /** The header the sidecar gave the request; null: nothing to report by. */
  readonly traceparent: string | null
  readonly requestId: string | number
}

export interface WorkReporter {
  reportTo(admin: URL): void
  tell(event: 'start' | 'end' | 'abort', call: ReportedCall): void
  lost(): readonly string[]
  /** Resolves when every report so far has arrived or failed. */
  settled(): Promise<void>
}

const ANSWER_WAIT_MS = 5_000

export function createWorkReporter(): WorkReporter {
  let target: URL | null = null
  const lost: string[] = []
  const underWay = new Set<Promise<void>>()

  async function post(to: URL, message: object): Promise<void> {
    try {
      const answer = await fetch(to, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(message),
        signal: AbortSignal.timeout(ANSWER_WAIT_MS),
      })
      const text = await answer.text()
      if (!answer.ok) lost.push(`${to.href} answered ${answer.status} ${text.slice(0, 200)}`)
    } catch (problem) {
      const { message: said, cause } = problem as Error
      lost.push(`${to.href}: ${cause instanceof Error ? cause.message : said}`)
    }
  }

  return {
    reportTo(admin) {
      target = new URL('/api/v1/work', admin)
    },
    tell(event, { traceparent, requestId }) {
      if (target === null) return
      if (traceparent === null) {
        lost.push(`request ${requestId} came without a traceparent header`)
        return
      }
      const sent = post(target, { event, traceparent, requestId, at: Date.now() }).finally(() => underWay.delete(sent))
      underWay.add(sent)
    },
    lost: () => lost,
    async settled() {
      await Promise.all(underWay)
    },
  }
}
