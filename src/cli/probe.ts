/** `probe --print python`: what a server's author needs to report its work, ready to be saved. */
import { readPythonProbe } from '../work/probe-python.ts'
import type { Command } from './command.ts'
import { PRODUCT } from './product.ts'

export const probeCommand: Command = {
  name: 'probe',
  says: 'Print the probe with which a server of another language reports its work (Node imports impatient-hop/probe)',
  flags: [{ name: 'print', takes: 'python', says: 'python: one file, standard library only', choices: ['python'] }],
  examples: [['probe --print python > impatient_hop_probe.py', 'save it beside your server; its head says how it is used']],
  async run({ flags }, { out, err }) {
    const language = flags['print']
    if (language !== 'python') {
      const got = language === undefined ? 'nothing' : JSON.stringify(language)
      err.print(`${PRODUCT}: --print: expected python, got ${got}: other languages send the JSON message, see the README`)
      return 2
    }
    out.write(readPythonProbe())
    return 0
  },
}
