/** `path show|set|reset`: the hops in force in a running sidecar. */
import { parseHopFlag } from '../hops/flags.ts'
import type { Hop } from '../hops/hop.ts'
import type { Asked } from './admin-client.ts'
import { ADMIN_FLAG, askAdmin } from './admin-client.ts'
import type { Command, CommandArguments } from './command.ts'
import type { ExitCode } from './exit-code.ts'
import { PRODUCT } from './product.ts'
import { effectiveRows, pathRows } from './startup-block.ts'
import type { World } from './world.ts'
import { readWritten } from './written.ts'

const ACTIONS = ['show', 'set', 'reset'] as const

export const pathCommand: Command = {
  name: 'path',
  says: "Show the hops in force in a running sidecar, set others in their place, or go back to the file's",
  positionals: [
    { name: 'action', says: 'show, set or reset', choices: () => ACTIONS },
    { name: 'hops', says: "For set: NAME[:limit.after=D],… from the client's side to the server's; none for no hop" },
  ],
  flags: [
    { name: 'for', takes: 'D', says: "Only so long; the file's path is in force again afterwards" },
    { name: 'file', takes: 'FILE|-', says: 'The path as in a configuration, from a file or stdin' },
    ADMIN_FLAG,
  ],
  switches: [{ name: 'json', says: 'As the API has it' }],
  examples: [
    ['path show', 'hops and the effective limits'],
    ['path set cloudflare,nginx:idle.after=20s --for 10m', 'for exchanges opened from now on, for ten minutes'],
    ['path reset', 'what was set here is taken away, from open exchanges too'],
  ],
  async run(args, world) {
    const { action = 'show', hops } = args.positionals
    switch (action) {
      case 'show':
        return show(await askAdmin('/api/v1/path', args, world), args, world)
      case 'reset':
        return show(await askAdmin('/api/v1/path', args, world, { method: 'DELETE' }), args, world)
      case 'set':
        return set(hops, args, world)
      default:
        return fail(world, `path: expected show, set or reset, got ${JSON.stringify(action)}`)
    }
  },
}

async function set(hops: string | undefined, args: CommandArguments, world: World): Promise<ExitCode> {
  const { file, for: forText } = args.flags
  if ((hops === undefined) === (file === undefined)) return fail(world, 'path set: expected hops or --file: for example path set nginx')
  const path = hops === undefined ? readWritten(file, world, 'path') : entriesOf(hops)
  if ('error' in path) return fail(world, path.error)
  const body = { path: path.written, ...(forText === undefined ? {} : { for: forText }) }
  return show(await askAdmin('/api/v1/path', args, world, { method: 'PUT', body }), args, world)
}

/** As the configuration writes them, checked here for words that are clearer on a command line. */
function entriesOf(text: string): { readonly written: readonly unknown[] } | { readonly error: string } {
  const words = text === 'none' ? [] : text.split(',').map((word) => word.trim())
  const wrong = words.map(parseHopFlag).find((parsed) => 'error' in parsed)
  if (wrong !== undefined && 'error' in wrong) return { error: `path set: ${wrong.error}` }
  return { written: words.map(entryOf) }
}

function entryOf(word: string): unknown {
  const [hop = '', ...changes] = word.split(':')
  const fields: Record<string, Record<string, unknown>> = {}
  for (const change of changes) {
    const at = change.indexOf('=')
    const [field = '', ...keys] = change.slice(0, at).split('.')
    const value = change.slice(at + 1)
    const inner = keys.reduceRight<unknown>(
      (nested, key) => ({ [key]: nested }),
      value === 'true' ? true : value === 'false' ? false : value,
    )
    fields[field] = { ...fields[field], ...(inner as Record<string, unknown>) }
  }
  return changes.length === 0 ? { hop } : { hop, with: fields }
}

function show(asked: Asked, args: CommandArguments, world: World): ExitCode {
  if ('code' in asked) return asked.code
  if (args.switches.has('json')) {
    world.out.print(JSON.stringify(asked.json, null, 2))
    return 0
  }
  const shown = asked.json as { readonly path?: readonly Hop[]; readonly stopped?: boolean; readonly expiresAt?: string | null }
  const path = shown.path ?? []
  const notes = [
    ...(shown.stopped === true ? [`stopped: nothing is in force until ${PRODUCT} resume`] : []),
    ...(typeof shown.expiresAt === 'string' ? [`until ${shown.expiresAt}, then the file's`] : []),
  ]
  world.out.print([...pathRows(path), ...effectiveRows(path).map((row) => `effective: ${row}`), ...notes].join('\n'))
  return 0
}

function fail(world: World, line: string): ExitCode {
  world.err.print(`${PRODUCT}: ${line}`)
  return 2
}
