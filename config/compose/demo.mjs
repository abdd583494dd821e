// The demo's MCP server, and impatient clients that call it through the sidecar until they are stopped. For config/compose.yaml;
// by hand beside `impatient-hop run --upstream http://127.0.0.1:3000`: node config/compose/demo.mjs
import { setTimeout as sleep } from 'node:timers/promises'
import { connectDemoClient } from '../../dist/demo/client.js'
import { startDemoServer } from '../../dist/demo/server.js'

const PORT = Number(process.env.DEMO_PORT ?? 3000)
const SIDECAR = new URL(process.env.DEMO_SIDECAR ?? 'http://127.0.0.1:8080')
const ADMIN = new URL(process.env.DEMO_ADMIN ?? 'http://127.0.0.1:8475')
const EVERY_MS = 1_500
const TOOLS = ['render_obedient', 'render_deaf']
// A result in time; a client that leaves; silence longer than the hop's limit.
const MANNERS = [
  { args: { workMs: 1_000 }, leaveAfterMs: null },
  { args: { workMs: 8_000 }, leaveAfterMs: 2_000 },
  { args: { workMs: 9_000, silentAfterMs: 500 }, leaveAfterMs: null },
]

const server = await startDemoServer(PORT)
server.reportTo(ADMIN)
console.log(`demo server on ${server.origin}, calling through ${SIDECAR}`)

const client = await connect()
for (let n = 0; ; n += 1) {
  const { args, leaveAfterMs } = MANNERS[n % MANNERS.length]
  client.call(TOOLS[Math.floor(n / MANNERS.length) % TOOLS.length], args, { leaveAfterMs })
  await sleep(EVERY_MS)
}

/** The sidecar may still be starting. */
async function connect() {
  for (;;) {
    try {
      return await connectDemoClient(SIDECAR, 'compose-demo')
    } catch (problem) {
      console.log(`the sidecar does not answer yet: ${problem.message}`)
      await sleep(1_000)
    }
  }
}
