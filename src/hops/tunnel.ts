/** A hop as it carries a WebSocket session: a tunnel. Its limits and manners hold; there is no body to buffer or to mend. */
import type { Hop } from './hop.ts'

/**
 * Without buffering and the request's manners; `idle` counts whatever frame comes, since a frame is no SSE event;
 * and a server lost in mid-session is never turned into a well-formed end, for no hop writes a Close frame in the server's name.
 */
export function tunnelHop({ buffering, request, idle, upstreamLoss, ...hop }: Hop): Hop {
  return {
    ...hop,
    ...(idle === undefined ? {} : { idle: { ...idle, counts: 'bytes' } }),
    ...(upstreamLoss === undefined ? {} : { upstreamLoss: { ...upstreamLoss, midStream: { fin: 'truncate', rst: 'truncate' } } }),
  }
}
