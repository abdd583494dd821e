/** Words typed: which command runs, what it is given, and the one line where it does not. */
import { expect, test } from 'vitest'
import type { Command, CommandArguments } from '../../src/cli/command.ts'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { cliWorld } from '../support/cli-world.ts'

async function type(...words: string[]) {
  let got: { name: string; args: CommandArguments } | null = null
  const command = (name: string, more: Partial<Command>): Command => ({
    name,
    says: `does ${name}`,
    examples: [[`${name} --example`, 'as an example']],
    run: async (args) => {
      got = { name, args }
      return 1
    },
    ...more,
  })
  const commands = [
    command('run', {
      isDefault: true,
      flags: [
        { name: 'listen', takes: 'ADDR', says: 'where' },
        { name: 'hop', takes: 'NAME', says: 'which', isList: true },
        { name: 'events', takes: 'FILE|-', says: 'into' },
        { name: 'mode', takes: 'act|shadow', says: 'how', choices: ['act', 'shadow'] },
      ],
    }),
    command('hops', {
      positionals: [
        { name: 'action', says: 'what to do', choices: () => ['show'] },
        { name: 'name', says: 'which', choices: () => ['nginx', 'caddy'] },
      ],
    }),
    command('validate', {
      positionals: [{ name: 'file', says: 'the file', isRequired: true }],
      switches: [{ name: 'quiet', says: 'no words' }],
    }),
  ]
  const at = cliWorld()
  const code = await runCommandLine(words, commands, at.world)
  return { code, out: at.out(), err: at.err(), got: got as { name: string; args: CommandArguments } | null }
}

test('the default command, and a named one, with what they were given', async () => {
  const plain = await type('--listen', ':1', '--hop', 'a', '--hop=b,c', '--events', '-')
  expect(plain.got).toMatchObject({ name: 'run', args: { flags: { listen: ':1', hop: ['a', 'b,c'], events: '-' } } })
  expect(plain.code).toBe(1)
  expect((await type()).got?.name).toBe('run')
  expect((await type('run', '--events', 'x.jsonl', '--listen', '-1')).got?.args.flags).toMatchObject({ events: 'x.jsonl', listen: '-1' })
  expect((await type('hops', 'show', 'nginx')).got?.args.positionals).toEqual({ action: 'show', name: 'nginx' })
  const validate = await type('validate', '--quiet', 'f.yaml')
  expect(validate.got?.args.switches).toEqual(new Set(['quiet']))
  expect(validate.got?.args.positionals).toEqual({ file: 'f.yaml' })
})
test('a value is text, whatever it looks like', async () => {
  expect((await type('--listen', '0x10')).got?.args.flags['listen']).toBe('0x10')
  expect((await type('--listen', '08')).got?.args.flags['listen']).toBe('08')
  expect((await type('validate', '007')).got?.args.positionals['file']).toBe('007')
  expect((await type('--listen')).got?.args.flags['listen']).toBe('')
  expect((await type('--listen', ':1', '--listen', ':2')).got?.args.flags['listen']).toEqual([':1', ':2'])
})

test.each([
  [['--lisen', ':1'], 'unknown flag --lisen: did you mean --listen?'],
  [['--no-listen'], 'unknown flag --no-listen'],
  [['-x'], 'unknown flag -x'],
  [['--zzzzzzzzz'], 'unknown flag --zzzzzzzzz: impatient-hop run --help lists them'],
  [['hops', '--listen', ':1'], 'unknown flag --listen for hops: it is a flag of impatient-hop run'],
  [['--hop.name', 'a'], 'unknown flag --hop.name'],
])('unknown flag %j [cli.unknown-flag]', async (words, said) => {
  const { code, err, out, got } = await type(...words)
  expect({ code, out, got }).toEqual({ code: 2, out: '', got: null })
  expect(err).toContain(said)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
})
test.each([
  [['hop'], 'unknown command "hop": did you mean impatient-hop hops?'],
  [['valdate', 'x'], 'unknown command "valdate": did you mean impatient-hop validate?'],
  [['http://127.0.0.1:3000'], 'write --upstream http://127.0.0.1:3000'],
  [['validate'], 'validate: expected FILE, got nothing: for example impatient-hop validate --example'],
  [['validate', 'a', 'b'], 'validate: expected no further word, got "b"'],
  [['run', 'run'], 'run: expected no further word, got "run"'],
  [['--', 'x'], 'unknown command "x"'],
])('unknown words %j [cli.unknown-command]', async (words, said) => {
  const { code, err, out, got } = await type(...words)
  expect({ code, out, got }).toEqual({ code: 2, out: '', got: null })
  expect(err).toContain(said)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
})

test.each([[['--hop']], [['--hop', '--listen', ':1']], [['--hop', '']], [['--hop=']], [['--hop', 'a', '--hop']], [['run', '--hop', ' ']]])(
  'a list flag that is given nothing is told, not passed over: %j [cli.empty-flag]',
  async (words) => {
    const { code, err, got } = await type(...words)
    expect({ code, err, got }).toEqual({ code: 2, err: 'impatient-hop: --hop: expected NAME, got nothing\n', got: null })
  },
)
test('what looks like a flag but is a number is a value: so it is judged as one [cli.bad-duration]', async () => {
  expect((await type('--listen', '-5s', '--mode', 'act')).got?.args.flags).toMatchObject({ listen: '-5s', mode: 'act' })
  expect((await type('--hop', '-')).got?.args.flags['hop']).toEqual(['-'])
})

test('help and version are asked for, and so on stdout', async () => {
  const help = await type('hops', '--help')
  expect(help.out).toContain('impatient-hop hops [action] [name]')
  expect(help.out).toContain('impatient-hop hops --example')
  expect(help.out).not.toContain('[string]')
  expect(help).toMatchObject({ code: 0, err: '', got: null })
  expect((await type('--help')).out).toContain('impatient-hop validate <file>')
  expect((await type('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/)
})
test('completion knows commands, flags, choices and positionals, whatever was typed [cli.completion]', async () => {
  const complete = async (...words: string[]) => (await type('--get-yargs-completions', 'impatient-hop', ...words)).out.split('\n')
  expect(await complete('')).toEqual(expect.arrayContaining(['run', 'hops', 'validate']))
  expect(await complete('hops', 'show', '')).toEqual(expect.arrayContaining(['nginx', 'caddy']))
  expect(await complete('run', '--mode', '')).toEqual(expect.arrayContaining(['act', 'shadow']))
  expect(await complete('run', '--l')).toEqual(expect.arrayContaining(['--listen']))
})
test('choices are not judged here: the command has better words', async () => {
  expect((await type('--mode', 'neither')).got?.args.flags['mode']).toBe('neither')
})
