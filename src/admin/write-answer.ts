/** Puts an answer on the socket, with the headers that keep browsers from doing anything clever with it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Problem } from './problem.ts'
import { problemAnswer } from './problem.ts'
import type { AdminAnswer } from './route.ts'

const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

export function writeAnswer(request: IncomingMessage, response: ServerResponse, { status, contentType, body, headers }: AdminAnswer): void {
  if (response.destroyed) return
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const hasBody = contentType !== null
  response.writeHead(status, {
    ...SAFE_HEADERS,
    ...(hasBody ? { 'Content-Type': contentType, 'Content-Length': bytes.length } : {}),
    ...(request.complete ? {} : { Connection: 'close' }), // an unread body is not waited for
    ...headers,
  })
  response.end(hasBody && request.method !== 'HEAD' ? bytes : undefined)
  if (!request.complete) response.once('finish', () => request.socket.destroySoon())
}

export function refuseUpgrade(socket: Duplex, problem: Problem): void {
  const { status, body, headers } = problemAnswer(problem)
  const lines = Object.entries({ ...headers, 'Content-Type': 'application/problem+json', Connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  socket.end([`HTTP/1.1 ${status} Refused`, ...lines, `Content-Length: ${Buffer.byteLength(String(body))}`, '', String(body)].join('\r\n'))
}
