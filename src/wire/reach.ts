/** Whether the server can be reached: tried at the start, and again every few seconds while it cannot. */
import { connect } from 'node:net'
import type { Clock, Timer } from '../core/clock.ts'

const TRY_AGAIN_MS = 5_000
const TRY_MAX_MS = 2_000

export interface ReachWatch {
  /** An exchange met the server, or failed to. */
  told(isUp: boolean): void
  isUp(): boolean
  stop(): void
}

/** A bare TCP connection is opened and closed again: no request is made for it. */
export function watchReach(origin: URL, clock: Clock, onChange: (isUp: boolean) => void): ReachWatch {
  const port = Number(origin.port === '' ? (origin.protocol === 'https:' ? 443 : 80) : origin.port)
  const host = origin.hostname.replace(/^\[|\]$/g, '')
  let isUp: boolean | null = null
  let again: Timer | null = null
  let isStopped = false

  function told(nowUp: boolean): void {
    if (isStopped) return
    if (nowUp !== isUp) {
      isUp = nowUp
      onChange(nowUp)
    }
    if (nowUp) {
      again?.cancel()
      again = null
    } else again ??= clock.after(TRY_AGAIN_MS, attempt)
  }

  function attempt(): void {
    again = null
    if (isStopped) return
    const socket = connect({ port, host })
    const late = clock.after(TRY_MAX_MS, () => finish(false))
    const finish = (reached: boolean): void => {
      late.cancel()
      socket.destroy()
      told(reached)
    }
    socket.once('connect', () => finish(true))
    socket.once('error', () => finish(false))
  }

  attempt()
  return {
    told,
    isUp: () => isUp === true,
    stop() {
      isStopped = true
      again?.cancel()
    },
  }
}
