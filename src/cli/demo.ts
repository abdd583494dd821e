/** `demo`: the whole story in half a minute, with nothing else installed. */
import type { Address, Settings } from '../config/snapshot.ts'
import { formatAddress } from '../config/values.ts'
import { silentLog } from '../core/log.ts'
import type { StartSidecar } from '../demo/demo.ts'
import type { Command } from './command.ts'
import type { World } from './world.ts'

export const demoCommand: Command = {
  name: 'demo',
  says: 'Show it at work: a server, the sidecar and a client of its own, and what the server went on doing',
  switches: [{ name: 'serve', says: 'Stay up afterwards: metrics, API and the server to try things on, until Ctrl-C' }],
  examples: [
    ['demo', 'runs six calls and prints who ended each, and how long the server worked on'],
    ['demo --serve', 'the same, then stays up'],
  ],
  run: ({ switches }, world) =>
    world.runDemo(
      { isServing: switches.has('serve') },
      {
        startSidecar: (settings) => startSidecar(settings, world),
        print: world.out.print,
        paint: world.out.paint,
        untilStopped: () => firstSignal(world),
      },
    ),
}

async function startSidecar(settings: Settings, world: World): ReturnType<StartSidecar> {
  const app = await world.startApp(settings, { log: silentLog, writeOut: () => undefined })
  const urlOf = (address: Address): URL => new URL(`http://${formatAddress(address)}`)
  return { url: urlOf(app.addresses.listen), adminUrl: urlOf(app.addresses.admin), stop: app.stop }
}

const firstSignal = (world: World): Promise<void> =>
  new Promise((resolve) => {
    const forget = world.onSignal(() => {
      forget()
      resolve()
    })
  })
