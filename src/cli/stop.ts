/** `stop`: the kill switch of a running sidecar. */
import { ADMIN_FLAG, askAdmin } from './admin-client.ts'
import type { Command } from './command.ts'
import { PRODUCT } from './product.ts'

export const stopCommand: Command = {
  name: 'stop',
  says: 'Pass-through at once, for open exchanges too, until resume; the sidecar goes on measuring',
  flags: [ADMIN_FLAG],
  examples: [['stop', 'no fault and no hop acts any more']],
  async run(args, world) {
    const asked = await askAdmin('/api/v1/stop', args, world, { method: 'POST' })
    if ('code' in asked) return asked.code
    world.out.print(`Stopped: every exchange, open ones too, is in pass-through until ${PRODUCT} resume.`)
    return 0
  },
}
