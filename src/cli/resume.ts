/** `resume`: path and faults are in force again after `stop`. */
import { ADMIN_FLAG, askAdmin } from './admin-client.ts'
import type { Command } from './command.ts'

export const resumeCommand: Command = {
  name: 'resume',
  says: 'Path and faults are in force again, for exchanges opened from now on',
  flags: [ADMIN_FLAG],
  examples: [['resume', 'takes stop back']],
  async run(args, world) {
    const asked = await askAdmin('/api/v1/resume', args, world, { method: 'POST' })
    if ('code' in asked) return asked.code
    world.out.print('Resumed: path and faults are in force for exchanges opened from now on.')
    return 0
  },
}
