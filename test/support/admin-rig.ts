/** An admin port on loopback with a clock that stands still, and a client that shows what came back. */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { afterEach, expect } from 'vitest'
import type { Opened } from '../../src/admin/listen.ts'
import type { Route } from '../../src/admin/route.ts'
import type { AdminPorts } from '../../src/admin/route-list.ts'
import { adminRoutes } from '../../src/admin/route-list.ts'
import type { UpgradeRoute } from '../../src/admin/server.ts'
import { startAdmin } from '../../src/admin/server.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { CallRecord } from '../../src/core/record.ts'

export const opened: Opened[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

/** Stands still until told to move: a timer fires when `passMs` reaches it; `jumpMs` fires none, as when the process was busy. */
export function fakeClock(): Clock & { passMs(ms: number): void; jumpMs(ms: number): void } {
  let nowMs = 0
  let timers: { dueMs: number; run: () => void }[] = []
  return {
    nowMs: () => nowMs,
    wallMs: () => nowMs,
    catchUp: () => undefined,
    after(delayMs, run) {
      const timer = { dueMs: nowMs + delayMs, run }
      timers.push(timer)
      return {
        cancel: () => {
          timers = timers.filter((other) => other !== timer)
        },
        again(laterMs) {
          timers = [...timers.filter((other) => other !== timer), timer]
          timer.dueMs = nowMs + laterMs
        },
      }
    },
    jumpMs(ms) {
      nowMs += ms
    },
    passMs(ms) {
      nowMs += ms
      const due = timers.filter(({ dueMs }) => dueMs <= nowMs)
      timers = timers.filter(({ dueMs }) => dueMs > nowMs)
      for (const { run } of due) run()
    },
  }
}

export const record = { id: 'c1', tool: 'render' } as unknown as CallRecord
export const ports: AdminPorts = {
  version: '0.0.0',
  render: async (accept) => ({
    contentType: accept.includes('openmetrics') ? 'application/openmetrics-text' : 'text/plain; version=0.0.4',
    body: Buffer.from('up 1\n'),
  }),
  whyNotReady: () => null,
  listCalls: ({ isOpen }) => (isOpen ? [] : [record]),
  findCall: (id) => (id === 'c1' ? record : null),
  listPresets: () => [{ name: 'nginx' }],
  showPath: () => ({ path: [] }),
  takeProbeMessage: (json) =>
    (json as { event?: string }).event === 'end' ? { status: 202 } : { status: 400, problem: 'event: expected "start", "end" or "abort"' },
}

export interface Started {
  readonly port: number
  readonly clock: ReturnType<typeof fakeClock>
  readonly errors: string[]
}
export async function started({
  token = null,
  more = [],
  upgrades = [],
  over = {},
}: {
  token?: string | null
  more?: Route[]
  upgrades?: UpgradeRoute[]
  over?: Partial<AdminPorts>
} = {}): Promise<Started> {
  const clock = fakeClock()
  const errors: string[] = []
  const routes = [...adminRoutes({ ...ports, ...over }), ...more]
  const log = { error: (line: string) => void errors.push(line) }
  const admin = await startAdmin({ listen: { host: '127.0.0.1', port: 0 }, token, routes, upgrades, clock, log })
  opened.push(admin)
  return { port: admin.address.port, clock, errors }
}

export interface Got {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly json: () => Record<string, unknown>
}
export function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Got> {
  const options: RequestOptions = { host: '127.0.0.1', port, path, method, headers, agent: false }
  return new Promise((resolve, reject) => {
    const sent = httpRequest(options, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: text,
          json: () => JSON.parse(text) as Record<string, unknown>,
        }),
      )
      answer.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
export const problemOf = ({ headers, json }: Got): Record<string, unknown> => {
  expect(headers['content-type']).toBe('application/problem+json')
  return json()
}
