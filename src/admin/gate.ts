/**
 * Who may speak to the admin port. A browser is tricked in two ways: a page of another origin sends requests here (its
 * `Origin` gives it away), and a name the attacker owns is pointed at 127.0.0.1 (its `Host` gives it away).
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { Problem } from './problem.ts'

export interface Gate {
  /** Throws `Problem` 403 where a browser of another origin, or a rebound name, is asking. For upgrades as well. */
  checkBrowser(headers: IncomingHttpHeaders, { isPageRequest }: { isPageRequest: boolean }): void
  /** Whether the token is right, or none is set. */
  knows(headers: IncomingHttpHeaders): boolean
}

export interface GateAsked {
  /** The host that is listened on, as configured. */
  readonly listenHost: string
  readonly token: string | null
  /** Also names that no public DNS can serve (`sidecar`, `sidecar.ns.svc`): for the port that is only read. */
  readonly allowsPrivateNames?: boolean
}

export function createGate({ listenHost, token, allowsPrivateNames = false }: GateAsked): Gate {
  const expected = token === null ? null : digest(`Bearer ${token}`)
  return {
    checkBrowser(headers, { isPageRequest }) {
      const host = headers.host
      // With a token a rebound page gains nothing: it cannot know it.
      if (host !== undefined && token === null && !isOwnHost(host, listenHost, allowsPrivateNames)) {
        throw new Problem(403, `host "${host}" is not one of ours: use an address such as 127.0.0.1 or localhost, or set admin.token`, {
          key: 'Host',
        })
      }
      checkOrigin(headers, isPageRequest)
    },
    knows: ({ authorization }) => expected === null || timingSafeEqual(digest(authorization ?? ''), expected),
  }
}

/** An address as host is never a rebound name: rebinding needs a name that resolves twice. */
function isOwnHost(host: string, listenHost: string, allowsPrivateNames: boolean): boolean {
  const name = hostnameOf(host)
  if (name === null) return false
  if (name === listenHost.toLowerCase() || isIP(name) !== 0) return true
  if (name === 'localhost' || name.endsWith('.localhost') || name === 'host.docker.internal') return true
  return allowsPrivateNames && (!name.includes('.') || /\.(svc|local|internal|test)$/.test(name))
}

function hostnameOf(host: string): string | null {
  const found = /^(?:\[([0-9a-f:.%]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host)
  const name = (found?.[1] ?? found?.[2])?.toLowerCase()
  return name === undefined ? null : name.replace(/\.$/, '')
}

function checkOrigin({ origin, host, ...headers }: IncomingHttpHeaders, isPageRequest: boolean): void {
  if (origin !== undefined && !isSameOrigin(origin, host)) {
    throw new Problem(403, `pages of "${origin}" may not use this port`, { key: 'Origin' })
  }
  // Requests without an Origin (images, scripts, links) still say where they come from; following a link to the page is fine.
  const site = headers['sec-fetch-site']
  const isFollowedLink = isPageRequest && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isFollowedLink) {
    throw new Problem(403, `a page of another origin may not use this port (Sec-Fetch-Site: ${String(site)})`, { key: 'Origin' })
  }
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin) || !URL.canParse(`http://${host}`)) return false
  const { protocol, host: from } = new URL(origin)
  return (protocol === 'http:' || protocol === 'https:') && from === new URL(`${protocol}//${host}`).host
}

/** Equal length for any input, so that comparing tells nothing by its time. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
