/** How a hop takes the request: collected whole before it is passed on, and no longer than it allows. */
import { sendAnswer } from '../core/answer.ts'
import { toKeep } from '../core/keep.ts'
import type { SeatPlan } from '../core/seat.ts'
import type { Ask, Cause } from '../core/signal.ts'
import { headerOf, lost } from '../core/signal.ts'
import type { RequestManner } from './hop.ts'

export function requestSeat(name: string, { buffer, bodyMaxBytes }: RequestManner, tooLong: Cause): SeatPlan {
  const maxBytes = bodyMaxBytes ?? Infinity
  return {
    name,
    sit(out) {
      let held: Ask[] = []
      let bytes = 0

      function refuse(): void {
        held = []
        sendAnswer(
          out,
          {
            status: 413,
            reason: 'Request Entity Too Large',
            rawHeaders: ['Content-Type', 'text/plain; charset=utf-8'],
            body: `413: ${tooLong.detail}\n`,
            connection: 'close',
          },
          tooLong,
        )
        out.toServer(lost('fin', tooLong))
      }
      function passHeld(): void {
        const passing = held
        held = []
        for (const signal of passing) out.toServer(signal)
      }
      function take(signal: Ask): void {
        if (buffer) held.push(signal.is === 'piece' ? toKeep(signal) : signal)
        else out.toServer(signal)
      }

      return {
        fromClient(signal) {
          if (signal.is === 'request') {
            const promisedBytes = Number(headerOf(signal.rawHeaders, 'content-length') ?? 0)
            if (promisedBytes > maxBytes) refuse()
            else take(signal)
          } else if (signal.is === 'piece') {
            bytes += signal.bytes.length
            if (bytes > maxBytes) refuse()
            else take(signal)
          } else {
            if (signal.is === 'asked') passHeld()
            else held = [] // it will never be whole
            out.toServer(signal)
          }
        },
        release: passHeld,
        heldBytes: () => held.reduce((sum, signal) => sum + (signal.is === 'piece' ? signal.bytes.length : 0), 0),
      }
    },
  }
}
