/** An answer made here, in the server's place. */
import type { Out } from './seat.ts'
import type { Cause, Head, RawHeaders, Reply } from './signal.ts'
import { end } from './signal.ts'

export interface Answer {
  readonly status: number
  /** Empty: the standard phrase of the status. */
  readonly reason: string
  /** Without Content-Length and Connection, which follow from the body and from `connection`. */
  readonly rawHeaders: RawHeaders
  readonly body: string
  /** Whether the client's connection outlives the answer. */
  readonly connection?: 'keep' | 'close'
}

/** The answer as signals: a head with its Content-Length, the body, the end. */
export function repliesOf({ status, reason, rawHeaders, body, connection }: Answer, cause: Cause): readonly Reply[] {
  const bytes = new TextEncoder().encode(body)
  const head: Head = {
    is: 'head',
    status,
    reason,
    rawHeaders: [...rawHeaders, 'Content-Length', String(bytes.length), ...(connection === 'close' ? ['Connection', 'close'] : [])],
    origin: 'sidecar',
  }
  return bytes.length === 0 ? [head, end(cause)] : [head, { is: 'piece', bytes, mark: null }, end(cause)]
}

export function sendAnswer(out: Out, answer: Answer, cause: Cause): void {
  for (const reply of repliesOf(answer, cause)) out.toClient(reply)
}
