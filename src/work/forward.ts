/** Passes what exporters sent on to the real collector, byte for byte: a bounded queue whose failures touch nothing else. */
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'

export type TelemetrySignal = 'traces' | 'metrics' | 'logs'
export type ForwardResult = 'sent' | 'failed' | 'dropped'

export interface ForwardedBody {
  readonly signal: TelemetrySignal
  readonly bytes: Uint8Array
  /** Names in lower case, without those of the connection. */
  readonly headers: Readonly<Record<string, string>>
}

export interface Forwarder {
  /** Never throws, never waits. */
  send(body: ForwardedBody): void
  counts(): Readonly<Record<ForwardResult, number>>
  /** Gives what is queued up to `limitMs`, then lets it go. */
  close(limitMs: number): Promise<void>
}

export interface ForwardAsked {
  /** The collector's base, as OTEL_EXPORTER_OTLP_ENDPOINT has it: `/v1/traces` is added. */
  readonly to: URL
  readonly clock: Clock
  readonly log: Log
  readonly queueBytesMax?: number
  readonly answerWithinMs?: number
  count?(signal: TelemetrySignal, result: ForwardResult): void
}

const AT_ONCE_MAX = 4
const WARN_EVERY_MS = 60_000

export function createForwarder(asked: ForwardAsked): Forwarder {
  const { to, clock, log, queueBytesMax = 32 * 1_048_576, answerWithinMs = 10_000 } = asked
  const queue: ForwardedBody[] = []
  const counts = { sent: 0, failed: 0, dropped: 0 }
  const running = new Set<AbortController>()
  let heldBytes = 0
  let warnedAtMs = -Infinity
  let whenIdle: (() => void) | null = null

  function tell(signal: TelemetrySignal, result: ForwardResult, why: string): void {
    counts[result] += 1
    asked.count?.(signal, result)
    if (result === 'sent' || clock.nowMs() - warnedAtMs < WARN_EVERY_MS) return
    warnedAtMs = clock.nowMs()
    log.warn(`otlp.forwardTo: ${signal} ${result} on the way to ${to.href}: ${why}; further failures of this minute are only counted`)
  }

  function pump(): void {
    while (running.size < AT_ONCE_MAX) {
      const body = queue.shift()
      if (body === undefined) break
      void run(body)
    }
    if (running.size === 0) whenIdle?.()
  }

  async function run(body: ForwardedBody): Promise<void> {
    const abort = new AbortController()
    running.add(abort)
    const timer = clock.after(answerWithinMs, () => abort.abort(new Error(`no answer within ${answerWithinMs} ms`)))
    try {
      const answer = await fetch(targetOf(to, body.signal), {
        ...{ method: 'POST', body: body.bytes as Uint8Array<ArrayBuffer>, headers: body.headers, signal: abort.signal, redirect: 'manual' },
      })
      await answer.body?.cancel()
      tell(body.signal, answer.ok ? 'sent' : 'failed', `it answered ${answer.status}`)
    } catch (error) {
      tell(body.signal, 'failed', reasonOf(error))
    }
    timer.cancel()
    running.delete(abort)
    heldBytes -= body.bytes.length
    pump()
  }

  return {
    send(body) {
      if (heldBytes + body.bytes.length > queueBytesMax) {
        tell(body.signal, 'dropped', `its queue holds ${queueBytesMax} bytes`)
        return
      }
      heldBytes += body.bytes.length
      queue.push(body)
      pump()
    },
    counts: () => ({ ...counts }),
    close: (limitMs) =>
      new Promise((resolve) => {
        if (running.size === 0) return resolve()
        const timer = clock.after(limitMs, () => {
          for (const body of queue.splice(0)) tell(body.signal, 'dropped', 'the sidecar is ending')
          for (const abort of running) abort.abort(new Error('the sidecar is ending'))
        })
        whenIdle = () => {
          timer.cancel()
          resolve()
        }
      }),
  }
}

export function targetOf(to: URL, signal: TelemetrySignal): URL {
  const target = new URL(to)
  target.pathname = `${to.pathname.replace(/\/$/, '')}/v1/${signal}`
  return target
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
