/** The admin port: checks who is asking, finds the route, answers. It knows no route by name. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Address } from '../config/snapshot.ts'
import type { Clock } from '../core/clock.ts'
import { findRoute } from './find-route.ts'
import type { Gate } from './gate.ts'
import { createGate } from './gate.ts'
import { listenOn, type Opened } from './listen.ts'
import { Problem, problemAnswer } from './problem.ts'
import { createRateLimit } from './rate-limit.ts'
import { readBody } from './read-body.ts'
import type { AdminAnswer, AdminRequest, Route } from './route.ts'
import { refuseUpgrade, writeAnswer } from './write-answer.ts'

export interface AdminLog {
  error(line: string): void
}

/** A WebSocket's path; the caller has passed every check when `take` is called. */
export interface UpgradeRoute {
  readonly path: string
  readonly summary: string
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

export interface AdminAsked {
  readonly listen: Address
  /** The configuration key of `listen`, for messages. */
  readonly key?: string
  readonly token: string | null
  readonly routes: readonly Route[]
  readonly upgrades?: readonly UpgradeRoute[]
  readonly allowsPrivateNames?: boolean
  readonly clock: Clock
  readonly log: AdminLog
}

const CONNECTIONS_MAX = 256
const REQUESTS = { perSecond: 200, burst: 400 }
// Guessing a token: a person mistypes, a program tries thousands.
const WRONG_TOKENS = { perSecond: 1, burst: 20 }

interface Checks {
  readonly gate: Gate
  /** Throws `Problem` where this caller may not have this path. */
  admit(request: IncomingMessage, pathname: string, route: Pick<Route, 'isOpen' | 'isUnlimited'>): void
}

/** Listens. Rejects with `PortTaken`. */
export async function startAdmin(asked: AdminAsked): Promise<Opened> {
  const checks = createChecks(asked)
  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 30_000,
    connectionsCheckingInterval: 5_000,
  })
  server.maxConnections = CONNECTIONS_MAX
  server.on('request', (request, response) => void serve(asked, checks, request, response))
  takeUpgrades(server, asked, checks)
  return listenOn(server, asked.listen, asked.key ?? 'admin.listen')
}

function createChecks({ listen, token, allowsPrivateNames = false, clock }: AdminAsked): Checks {
  const gate = createGate({ listenHost: listen.host, token, allowsPrivateNames })
  const requests = createRateLimit(REQUESTS)
  const wrongTokens = createRateLimit(WRONG_TOKENS)
  const tooMany = (): Problem => new Problem(429, 'too many requests; try again in a second', { headers: { 'Retry-After': '1' } })
  return {
    gate,
    admit(request, pathname, route) {
      const nowMs = clock.nowMs()
      gate.checkBrowser(request.headers, { isPageRequest: request.method === 'GET' && pathname === '/' })
      if (route.isOpen !== true && !gate.knows(request.headers)) {
        if (!wrongTokens.take(nowMs)) throw tooMany()
        throw new Problem(401, 'this port needs "Authorization: Bearer <admin.token>"', {
          key: 'Authorization',
          headers: { 'WWW-Authenticate': 'Bearer realm="impatient-hop"' },
        })
      }
      if (route.isUnlimited !== true && !requests.take(nowMs)) throw tooMany()
    },
  }
}

async function serve(asked: AdminAsked, checks: Checks, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => response.destroy())
  const answer = await answerOf(asked, checks, request)
  writeAnswer(request, response, answer)
}

async function answerOf({ routes, clock, log }: AdminAsked, checks: Checks, request: IncomingMessage): Promise<AdminAnswer> {
  try {
    const url = urlOf(request)
    const found = findRouteFor(routes, checks, request, url.pathname)
    checks.admit(request, url.pathname, found.route)
    const body = await readBody(request, clock)
    const asked: AdminRequest = {
      method: found.route.method,
      params: found.params,
      query: url.searchParams,
      accept: request.headers.accept ?? '',
      body,
    }
    return await found.route.answer(asked)
  } catch (error) {
    if (error instanceof Problem) return problemAnswer(error)
    log.error(`admin: ${request.method ?? ''} ${request.url ?? ''} failed: ${error instanceof Error ? error.message : String(error)}`)
    return problemAnswer(new Problem(500, 'this failed inside the sidecar; its log says why'))
  }
}

/** What exists here is told only to who may know it. */
function findRouteFor(routes: readonly Route[], checks: Checks, request: IncomingMessage, pathname: string) {
  try {
    return findRoute(routes, request.method ?? 'GET', pathname)
  } catch (error) {
    checks.admit(request, pathname, {})
    throw error
  }
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  const text = url.startsWith('/') ? `http://admin${url}` : url
  if (!URL.canParse(text)) throw new Problem(400, 'the request target is no path', { key: 'path' })
  return new URL(text)
}

function takeUpgrades(server: Server, asked: AdminAsked, checks: Checks): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    try {
      const { pathname } = urlOf(request)
      checks.admit(request, pathname, {})
      const route = asked.upgrades?.find(({ path }) => path === pathname)
      if (route === undefined) throw new Problem(404, `no WebSocket at ${pathname}`, { key: 'path' })
      route.take(request, socket, head)
    } catch (error) {
      if (!(error instanceof Problem)) asked.log.error(`admin: upgrade of ${request.url ?? ''} failed: ${String(error)}`)
      refuseUpgrade(socket, error instanceof Problem ? error : new Problem(500, 'this failed inside the sidecar; its log says why'))
    }
  })
}
