/** What a failed connection to the server means: never reached, closed or reset, and the one line that says why. */
import type { Break, CauseKind } from '../core/signal.ts'

export interface Fate {
  readonly ending: Break
  readonly kind: Extract<CauseKind, 'unreachable' | 'server_close' | 'server_reset'>
  readonly detail: string
  /** A connection kept from an earlier request died with this one on it. */
  readonly isStale?: true
}

type When = 'before-head' | 'reused' | 'mid-stream'

interface SystemError extends Error {
  readonly code?: string
  readonly syscall?: string
  readonly errors?: readonly Error[]
}

/** A reset as the socket tells it; Node's own "socket hang up" has the same code but is a FIN. */
export function isResetError(error: Error): boolean {
  const { code, syscall } = error as SystemError
  return code === 'EPIPE' || (code === 'ECONNRESET' && (syscall === 'read' || syscall === 'write'))
}

export function fateOf(ending: Break, when: When, error: Error | null): Fate {
  const { code = '', syscall = '', errors } = (error ?? {}) as Partial<SystemError>
  const said = errors === undefined || errors.length === 0 ? (error?.message ?? '') : errors.map(({ message }) => message).join(', ')
  if (isUnreached(code, syscall, errors))
    return { ending: 'fin', kind: 'unreachable', detail: `the server cannot be reached: ${said || code}` }
  const kind = ending === 'rst' ? 'server_reset' : 'server_close'
  const did = ending === 'rst' ? 'reset' : 'closed'
  if (code.startsWith('HPE_')) return { ending, kind, detail: `the server's answer is not valid HTTP/1.1: ${said} (${code})` }
  if (when === 'mid-stream') {
    const why = ending === 'fin' && said !== '' ? `: ${said}` : ''
    return { ending, kind, detail: `the server ${did} the connection before its answer was whole${why}` }
  }
  if (when === 'reused')
    return {
      ending,
      kind,
      detail: `a reused keep-alive connection was ${did} by the server before any byte of an answer; nothing is retried`,
      isStale: true,
    }
  return { ending, kind, detail: `the server ${did} the connection before its answer: ${said}` }
}

/** A 101 to a request that asked for none. */
export const UNASKED_SWITCH: Fate = {
  ending: 'fin',
  kind: 'server_close',
  detail: 'the server switched protocols (101) without being asked',
}

const UNREACHED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ENOENT|ERR_INVALID)/

function isUnreached(code: string, syscall: string, errors: readonly Error[] | undefined): boolean {
  if (syscall === 'read' || syscall === 'write') return false // it was reached, and then lost
  return syscall === 'connect' || syscall === 'getaddrinfo' || errors !== undefined || UNREACHED.test(code)
}
