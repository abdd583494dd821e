/** A metrics page about calls that were cut after 60 s of silence: real metrics, told of by facts on a fake clock. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createJournal } from '../../src/journal/journal.ts'
import { createMetrics } from '../../src/sinks/metrics/index.ts'
import { fakeClock } from './fake-clock.ts'
import { call, cutAt, OPENED_AT_MS } from './ledger-rig.ts'

export interface SixtySecondPage {
  readonly port: number
  /** Twenty calls happen, each cut 60 s after its last byte: 59.98 to 60.17 s of silence. */
  tell(): void
  close(): Promise<void>
}

export async function startSixtySecondPage(): Promise<SixtySecondPage> {
  const metrics = createMetrics({ toolsMax: 50, version: '0.0.0', gauges: { bufferedBytes: () => 0 } })
  const server = createServer((request, response) => {
    void metrics.render(request.headers.accept).then(({ contentType, body }) => {
      response.writeHead(200, { 'content-type': contentType })
      response.end(body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    tell() {
      for (let n = 0; n < 20; n += 1) {
        const clock = fakeClock({ startMs: OPENED_AT_MS })
        const journal = createJournal({
          ...{ clock, sinks: [metrics.sink], graceMs: 500, waitMs: 60_000 },
          onSinkError(_, error) {
            throw error
          },
        })
        const { tell } = journal.openExchange()
        for (const fact of [...call(), ...cutAt(4 + 59_980 + 10 * n)]) {
          clock.advance(fact.atMs - clock.nowMs())
          tell(fact)
        }
      }
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
