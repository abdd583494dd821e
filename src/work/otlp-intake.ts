/** What both OTLP ports do with an export: read it within limits, decode its spans, pass the raw bytes on. */
import type { Readable } from 'node:stream'
import type { Log } from '../core/log.ts'
import type { Forwarder, TelemetrySignal } from './forward.ts'
import type { OtlpEncoding } from './otlp-answer.ts'
import { decodeSpans, SPANS_MAX } from './otlp-decode.ts'
import type { ByteBudget, ReadBody } from './read-body.ts'
import { createByteBudget, createInflater, readBody } from './read-body.ts'
import type { WorkPort } from './work-port.ts'

export const EXPORT_BYTES_MAX = 16 * 1_048_576
/** Raw bytes of all exports under way. */
const TOGETHER_BYTES_MAX = 64 * 1_048_576

export type Outcome =
  | { readonly is: 'taken'; readonly rejected: number; readonly message: string }
  /** `code`: gRPC's. `retryAfterS`: it is worth another try. */
  | { readonly is: 'failed'; readonly code: number; readonly message: string; readonly retryAfterS?: number }

export interface ExportBody {
  readonly signal: TelemetrySignal
  readonly encoding: OtlpEncoding
  readonly isGzip: boolean
  readonly from: Readable
  /** As promised; 0: unknown. */
  readonly lengthBytes: number
  /** For the collector. */
  readonly headers: Readonly<Record<string, string>>
}

export interface ExportMessage {
  readonly signal: TelemetrySignal
  readonly encoding: OtlpEncoding
  readonly isGzip: boolean
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

export interface OtlpIntake {
  /** Reads a body, then takes it. Never rejects. */
  takeBody(body: ExportBody): Promise<Outcome>
  /** Reads no more than may be held; `give` back what was read when it is done with. */
  read(from: Readable, bytesMax: number): Promise<ReadBody>
  give(bytes: number): void
  /** Takes an export already read. Never rejects. */
  takeMessage(message: ExportMessage): Promise<Outcome>
}

export interface OtlpIntakeAsked {
  readonly workPort: Pick<WorkPort, 'takeSpans'>
  readonly forwarder: Forwarder | null
  readonly log: Log
}

const INVALID = 3
const EXHAUSTED = 8
const TAKEN: Outcome = { is: 'taken', rejected: 0, message: '' }
const tooLarge: Outcome = {
  is: 'failed',
  code: EXHAUSTED,
  message: `an export has ${EXPORT_BYTES_MAX} bytes at most, compressed and inflated`,
}
const tooMany: Outcome = { is: 'failed', code: EXHAUSTED, message: 'too many exports at once; try again', retryAfterS: 1 }

export function createOtlpIntake({ workPort, forwarder, log }: OtlpIntakeAsked): OtlpIntake {
  const budget: ByteBudget = createByteBudget(TOGETHER_BYTES_MAX)
  const inflate = createInflater(EXPORT_BYTES_MAX)
  const warned = new Set<TelemetrySignal>()

  /** Metrics and logs are not for us: without a collector they go nowhere, and that is said once. */
  function passBy(signal: TelemetrySignal): Outcome {
    if (forwarder === null && !warned.has(signal)) {
      warned.add(signal)
      log.warn(`otlp: ${signal} came in and go nowhere: set otlp.forwardTo to pass them on to a collector`)
    }
    return TAKEN
  }

  async function takeMessage({ signal, encoding, isGzip, bytes, headers }: ExportMessage): Promise<Outcome> {
    forwarder?.send({ signal, bytes, headers })
    if (signal !== 'traces') return passBy(signal)
    const inflated = isGzip ? await inflate(bytes) : ({ is: 'body', bytes } as const)
    switch (inflated.is) {
      case 'too_large':
        return tooLarge
      case 'broken':
        return { is: 'failed', code: INVALID, message: 'the body is no gzip' }
      case 'body':
        return takeSpans(inflated.bytes, encoding)
    }
  }

  function takeSpans(bytes: Uint8Array, encoding: OtlpEncoding): Outcome {
    const { taken, rejected, problem } = decodeSpans(bytes, encoding, (span) => workPort.takeSpans([span]))
    if (problem !== null) return { is: 'failed', code: INVALID, message: `${problem}; ${taken} spans before that were taken` }
    if (rejected === 0) return TAKEN
    return { is: 'taken', rejected, message: `${rejected} spans without valid ids, times or types, or beyond ${SPANS_MAX} in one export` }
  }

  return {
    takeMessage,
    read: (from, bytesMax) => readBody(from, bytesMax, budget),
    give: budget.give,
    async takeBody({ from, lengthBytes, ...message }) {
      if (lengthBytes > EXPORT_BYTES_MAX) {
        from.resume()
        return tooLarge
      }
      if (message.signal !== 'traces' && forwarder === null) {
        from.resume()
        return passBy(message.signal)
      }
      const read = await readBody(from, EXPORT_BYTES_MAX, budget)
      switch (read.is) {
        case 'too_large':
          return tooLarge
        case 'too_many':
          return tooMany
        case 'broken':
          return { is: 'failed', code: INVALID, message: 'the body broke off' }
        case 'body': {
          const outcome = await takeMessage({ ...message, bytes: read.bytes })
          budget.give(read.bytes.length)
          return outcome
        }
      }
    },
  }
}
