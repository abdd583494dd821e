/** What presets are known to cut after, as a diagnosis compares it: one entry a limit. */
import type { Hop, Limit, UpstreamManner } from '../hops/hop.ts'

export interface KnownLimit {
  readonly preset: string
  /** `wait`: no response head for so long; `idle`: no byte for so long; `total`: so long after the request, whatever was sent. */
  readonly kind: 'wait' | 'idle' | 'total'
  readonly ms: number
  /** A total that runs from the response's head. */
  readonly isFromHead: boolean
  /** It cuts at the first write after it was reached, not at once. */
  readonly isAtWrite: boolean
  /** How the server's side of it learns of the cut. */
  readonly tells: UpstreamManner
  /** What it answers where no head has passed; null: nothing. */
  readonly status: number | null
  /** A client library or program: it can only be in front. */
  readonly isClient: boolean
}

/** `hops`: presets as they are, each in a path of its own. */
export function knownLimits(hops: readonly Hop[]): readonly KnownLimit[] {
  return hops.flatMap((hop) => {
    const { headers, idle, total } = hop
    const base = (limit: Limit, kind: KnownLimit['kind']): KnownLimit => ({
      preset: hop.preset,
      kind,
      ms: limit.afterMs,
      isFromHead: false,
      isAtWrite: false,
      tells: limit.upstream,
      status: limit.answer?.status ?? null,
      isClient: isClient(hop),
    })
    return [
      ...(headers === undefined || headers === 'none' ? [] : [base(headers, 'wait')]),
      // Where a hop has no `headers`, its idle covers the wait.
      ...(idle !== undefined && headers === undefined ? [base(idle, 'wait')] : []),
      ...(idle === undefined ? [] : [base(idle, 'idle')]),
      ...(total === undefined
        ? []
        : [{ ...base(total, 'total'), isFromHead: total.from === 'headers', isAtWrite: total.at === 'next-write' }]),
    ]
  })
}

/** Proxies answer when they give up, and balancers that do not drop in silence; a client's local error is a bare close. */
function isClient({ headers, idle, total, clientAbort }: Hop): boolean {
  const limits = [headers === 'none' ? undefined : headers, idle, total].filter((limit) => limit !== undefined)
  return clientAbort === undefined && limits.every(({ answer, ending }) => answer === null && ending !== 'silent')
}

/** Whether whoever is behind this limit is told by its own write, and so later than the limit. */
export const isToldAtWrite = ({ tells, isAtWrite }: KnownLimit): boolean => isAtWrite || typeof tells === 'object'
