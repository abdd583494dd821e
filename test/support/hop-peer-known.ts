/** Where a preset is known to differ from its real program, and why. Anything else that differs fails; so does one of these that no longer does. */
import type { Aspect } from './hop-peer-compare.ts'

export interface KnownDifference {
  readonly peers: readonly string[]
  readonly scenarios: readonly string[]
  readonly aspects: readonly Aspect[]
  readonly because: string
  /** Why it does not show every time. */
  readonly flaky?: string
}

/** Those in which the response becomes whole while the client is there. */
const WHOLE = [
  "the client's fin after the result",
  "the client's rst after the result",
  'ten events, 120 ms apart',
  'six events, 150 ms apart',
  'ten events of 1 kB, 120 ms apart',
  'events with X-Accel-Buffering: no',
  'a head, an event much later',
  'JSON, whole',
]
const HALF = ['half-close before the head', 'half-close mid-stream']

const WAITS_FOR_MORE =
  'what comes in one packet with the head waits in varnish for more of a body with a promised length, and may be lost with it'

export const knownDifferences: readonly KnownDifference[] = [
  {
    peers: ['nginx-http10'],
    scenarios: WHOLE,
    aspects: ['server-ending'],
    because: "over HTTP/1.0 each request has a connection of its own; the sidecar speaks HTTP/1.1 and keeps the server's connection",
  },
  {
    peers: ['nginx-gzip'],
    scenarios: [
      'JSON of a promised length, a part',
      'JSON of a promised length, head only',
      "the server's fin inside JSON of a promised length",
      "the server's rst inside JSON of a promised length",
      'JSON, whole',
    ],
    aspects: ['framing'],
    because: 'what is compressed has no length beforehand and is chunked; the preset holds as gzip does but leaves the bytes as they are',
  },
  {
    peers: ['haproxy', 'haproxy-no-delay'],
    scenarios: ['a refused connection'],
    aspects: ['head-time', 'whole-time'],
    because: 'haproxy tries three times more, a second apart, before it answers; the preset answers at once',
  },
  {
    peers: ['haproxy'],
    scenarios: ["the client's fin before a head that comes", "the client's fin mid-stream", "the client's rst before a head that comes"],
    aspects: ['server-end-time'],
    because: 'the cork is in the kernel, so haproxy itself meets each event as it comes; ours when the cork lets it go, up to 200 ms later',
  },
  {
    peers: ['haproxy', 'haproxy-no-delay'],
    scenarios: [...WHOLE, ...HALF],
    aspects: ['server-ending'],
    because: 'haproxy resets an idle connection to the server where it has more than it expects to need; the sidecar keeps it',
    flaky: 'what it expects to need depends on how many were in use at once a little earlier',
  },
  {
    peers: ['haproxy'],
    scenarios: ['half-close mid-stream'],
    aspects: ['event-times'],
    because: "the client's FIN lets the cork go early; in the preset what is held goes at its time",
  },
  {
    peers: ['caddy-2.6'],
    scenarios: ['half-close before the head'],
    aspects: ['status'],
    because: 'a client that closes its side before the head gets an empty 200 from Caddy 2.6.2; the preset closes without a word',
  },
  {
    peers: ['caddy-2.6'],
    scenarios: ['half-close mid-stream'],
    aspects: ['terminator'],
    because: 'Caddy 2.6.2 ends the body as if it were whole when it gives up for a client that closed its side; the preset only closes',
  },
  {
    peers: ['varnish'],
    scenarios: ['JSON of a promised length, a part', "the server's rst inside JSON of a promised length"],
    aspects: ['body'],
    because: WAITS_FOR_MORE,
  },
  {
    peers: ['varnish'],
    scenarios: ["the server's fin inside JSON of a promised length"],
    aspects: ['body'],
    because: WAITS_FOR_MORE,
    flaky: 'one thread hears of the FIN, another passes the part on',
  },
  {
    peers: ['varnish'],
    scenarios: [
      'an endless stream',
      "the client's fin before a head that comes",
      "the client's fin mid-stream",
      "the client's rst before a head that comes",
      "the client's rst mid-stream",
    ],
    aspects: ['server-end-time'],
    because: 'varnish tells the server at its first write after the client is lost or at its second; the preset always at the same one',
    flaky: 'one thread reads from the server, another finds the client gone',
  },
]

export function knownFor(peer: string, scenario: string): readonly (KnownDifference & { readonly aspect: Aspect })[] {
  return knownDifferences
    .filter(({ peers, scenarios }) => peers.includes(peer) && scenarios.includes(scenario))
    .flatMap((known) => known.aspects.map((aspect) => ({ ...known, aspect })))
}
