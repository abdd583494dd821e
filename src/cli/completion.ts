/** `completion`: the script that makes a shell complete commands, flags and names of hops. */
import yargs from 'yargs'
import type { Command } from './command.ts'
import { PRODUCT } from './product.ts'

export const completionCommand: Command = {
  name: 'completion',
  says: 'Print the completion script of your shell (bash; zsh where SHELL says so)',
  examples: [['completion >> ~/.bashrc', 'complete commands, flags and hops from the next shell on']],
  async run(_args, { out }) {
    out.print(await completionScript())
    return 0
  },
}

/** yargs writes it; what it completes is asked from the parser itself each time. */
async function completionScript(): Promise<string> {
  let script = ''
  await yargs()
    .scriptName(PRODUCT)
    .completion('completion')
    .exitProcess(false)
    .parseAsync(['completion'], {}, (_error: unknown, _typed: unknown, output: string) => {
      script = output
    })
  return script.trimEnd()
}
