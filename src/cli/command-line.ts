/** From words typed to a command run: yargs takes the words apart and writes the help, the checks and their messages are ours. */
import type { Argv } from 'yargs'
import yargs from 'yargs'
import { nearest } from '../core/suggest.ts'
import type { Command, CommandArguments } from './command.ts'
import type { ExitCode } from './exit-code.ts'
import { PRODUCT, productVersion } from './product.ts'
import type { World } from './world.ts'

type Typed = Readonly<Record<string, unknown>>
const COMPLETING = '--get-yargs-completions'

/** Runs the command that `words` name (without node and script). Never throws for what a user did. */
export async function runCommandLine(words: readonly string[], commands: readonly Command[], world: World): Promise<ExitCode> {
  let found: { command: Command; typed: Typed } | null = null
  const parser = parserOf(commands, words[0] === COMPLETING, (command, typed) => {
    found = { command, typed }
  })
  let help = ''
  await parser.parseAsync(words.map(joined(words)).filter(isWord), {}, (_error: unknown, _typed: unknown, output: string) => {
    help = output
  })
  if (help !== '') {
    world.out.print(trimmed(help))
    return 0
  }
  return runFound(found, words, commands, world)
}

type Found = { readonly command: Command; readonly typed: Typed } | null

async function runFound(found: Found, words: readonly string[], commands: readonly Command[], world: World): Promise<ExitCode> {
  const problem =
    found === null
      ? 'expected a command: impatient-hop --help lists them'
      : (problemOf(found.command, found.typed, commands) ?? emptyFlag(found.command, words))
  if (found === null || problem !== null) {
    world.err.print(`${PRODUCT}: ${problem}`)
    return 2
  }
  return found.command.run(argumentsOf(found.command, found.typed), world)
}

/** yargs takes a lone `-` for a positional and `-5s` for a flag; after a flag they mean its value. */
const joined =
  (words: readonly string[]) =>
  (word: string, index: number): string | null => {
    const isFlag = (text: string | undefined): boolean => text !== undefined && /^--[^=]+$/.test(text)
    const isDashed = (text: string | undefined): text is string => text !== undefined && /^-(\d.*)?$/.test(text)
    if (isDashed(word) && isFlag(words[index - 1])) return null
    const next = words[index + 1]
    return isFlag(word) && isDashed(next) ? `${word}=${next}` : word
  }
const isWord = (word: string | null): word is string => word !== null

/** Help without yargs' type tags, which may take a line of their own: each flag already says what it takes. */
const trimmed = (help: string): string =>
  help
    .replace(/(\n *| *)\[(string|array|boolean)\]( \[required\])?$/gm, '')
    .replace(/ *\[default\]$/gm, '')
    .trimEnd()

function parserOf(commands: readonly Command[], isCompleting: boolean, take: (command: Command, typed: Typed) => void): Argv {
  const parser = yargs()
    .scriptName(PRODUCT)
    .locale('en')
    .parserConfiguration({
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'greedy-arrays': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'short-option-groups': false,
    })
    .exitProcess(false)
    // Our own checks come after, with better words; yargs' would come first.
    .fail(() => undefined)
    .help()
    .alias('help', 'h')
    .version(productVersion())
    .wrap(110)
    .epilogue('Exit codes: 0 fine, 1 an expectation failed, 2 bad usage or configuration, 3 could not run.')
  for (const command of commands) {
    parser.command(
      [usageOf(command), ...(command.isDefault === true ? ['$0'] : [])],
      command.says,
      (builder) => withWords(builder, command, isCompleting),
      (typed) => take(command, typed),
    )
  }
  return parser
}

const usageOf = ({ name, positionals = [] }: Command): string =>
  [name, ...positionals.map((positional) => (positional.isRequired === true ? `<${positional.name}>` : `[${positional.name}]`))].join(' ')

/** Choices are told to completion alone: yargs' own message for a wrong one takes four lines. */
function withWords(builder: Argv, command: Command, isCompleting: boolean): Argv {
  for (const { name, says, choices } of command.positionals ?? []) {
    builder.positional(name, { type: 'string', describe: says, ...(isCompleting && choices !== undefined ? { choices: choices() } : {}) })
  }
  for (const { name, takes, says, isList, choices } of command.flags ?? []) {
    const shape = isList === true ? { array: true, string: true } : { string: true }
    builder.option(name, { ...shape, describe: `${takes}: ${says}`, ...(isCompleting && choices !== undefined ? { choices } : {}) })
  }
  for (const { name, says } of command.switches ?? []) builder.option(name, { type: 'boolean', describe: says })
  for (const [line, does] of command.examples) builder.example(`${PRODUCT} ${line}`, does)
  return builder
}

/** One line on the first thing that is wrong, or null. */
function problemOf(command: Command, typed: Typed, commands: readonly Command[]): string | null {
  const flags = [...(command.flags ?? []), ...(command.switches ?? [])].map(({ name }) => name)
  const positionals = command.positionals ?? []
  const known = [...flags, ...positionals.map(({ name }) => name), 'help', 'h', 'version', '_', '$0', '--']
  const unknown = Object.keys(typed).find((name) => !known.includes(name))
  if (unknown !== undefined) return unknownFlag(unknown, command, flags, commands)
  const words = Array.isArray(typed['_']) ? typed['_'].map(String) : []
  const extra = words.filter((word, index) => index > 0 || word !== command.name)[0]
  if (extra !== undefined) return unexpected(extra, command, commands, words[0] === command.name)
  const missing = positionals.find(({ name, isRequired }) => isRequired === true && (typed[name] ?? '') === '')
  return missing === undefined ? null : `${command.name}: expected ${missing.name.toUpperCase()}, got nothing: ${exampleOf(command)}`
}

/** A list flag that is given nothing would pass for one that was not given. */
function emptyFlag({ flags = [] }: Command, words: readonly string[]): string | null {
  const end = words.indexOf('--')
  const typed = end === -1 ? words : words.slice(0, end)
  const isNothing = (text: string | undefined): boolean => text === undefined || text.trim() === '' || text.startsWith('--')
  const empty = flags.find(
    ({ name, isList }) =>
      isList === true && typed.some((word, index) => word === `--${name}=` || (word === `--${name}` && isNothing(typed[index + 1]))),
  )
  return empty === undefined ? null : `--${empty.name}: expected ${empty.takes}, got nothing`
}

function unknownFlag(name: string, command: Command, flags: readonly string[], commands: readonly Command[]): string {
  const dashed = name.length === 1 ? `-${name}` : `--${name}`
  const meant = nearest(name, flags)
  if (meant !== null) return `unknown flag ${dashed}: did you mean --${meant}?`
  const owner = commands.find((other) => [...(other.flags ?? []), ...(other.switches ?? [])].some((flag) => flag.name === name))
  if (owner !== undefined) return `unknown flag ${dashed} for ${command.name}: it is a flag of ${PRODUCT} ${owner.name}`
  return `unknown flag ${dashed}: ${PRODUCT} ${command.name} --help lists them`
}

function unexpected(word: string, command: Command, commands: readonly Command[], isCommandNamed: boolean): string {
  if (isCommandNamed) return `${command.name}: expected no further word, got ${JSON.stringify(word)}: ${exampleOf(command)}`
  if (/^https?:\/\//.test(word)) return `expected a command, got ${JSON.stringify(word)}: write --upstream ${word}`
  const meant = nearest(
    word,
    commands.map(({ name }) => name),
  )
  return `unknown command ${JSON.stringify(word)}: ${meant === null ? `${PRODUCT} --help lists them` : `did you mean ${PRODUCT} ${meant}?`}`
}

const exampleOf = ({ examples }: Command): string => `for example ${PRODUCT} ${examples[0]?.[0] ?? ''}`.trimEnd()

function argumentsOf(command: Command, typed: Typed): CommandArguments {
  const text = (value: unknown): string | readonly string[] | undefined =>
    value === undefined ? undefined : Array.isArray(value) ? value.map(String) : String(value)
  const one = (value: unknown): string | undefined =>
    Array.isArray(value) ? String(value.at(-1)) : value === undefined ? undefined : String(value)
  return {
    positionals: Object.fromEntries((command.positionals ?? []).map(({ name }) => [name, one(typed[name])])),
    flags: Object.fromEntries((command.flags ?? []).map(({ name }) => [name, text(typed[name])])),
    switches: new Set((command.switches ?? []).filter(({ name }) => typed[name] === true).map(({ name }) => name)),
  }
}
