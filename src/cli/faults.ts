/** `faults list|add|remove`: the faults of a running sidecar. */
import { suggestion } from '../core/suggest.ts'
import { FAULT_KINDS } from '../faults/index.ts'
import type { FaultTally } from '../faults/memory.ts'
import { ADMIN_FLAG, askAdmin } from './admin-client.ts'
import { columns } from './columns.ts'
import type { Command, CommandArguments } from './command.ts'
import type { ExitCode } from './exit-code.ts'
import { ruleOfFlags } from './fault-flags.ts'
import { printable } from './printable.ts'
import { PRODUCT } from './product.ts'
import type { World } from './world.ts'
import { readWritten } from './written.ts'

const ACTIONS = ['list', 'add', 'remove'] as const
const kinds = (): readonly string[] => FAULT_KINDS.map(({ key }) => key)

export const faultsCommand: Command = {
  name: 'faults',
  says: 'List the faults of a running sidecar, add one, or take one away (from open exchanges too)',
  positionals: [
    { name: 'action', says: 'list, add or remove', choices: () => ACTIONS },
    { name: 'what', says: 'For add: the kind of fault; for remove: its name', choices: kinds },
  ],
  flags: [
    { name: 'name', takes: 'NAME', says: 'How the new fault is called' },
    { name: 'set', takes: 'KEY=VALUE', says: 'A field of the fault, e.g. after.events=3; repeatable', isList: true },
    { name: 'when', takes: 'KEY=VALUE', says: 'Which exchanges, e.g. tool=search_*, header:x-tenant=staging; repeatable', isList: true },
    { name: 'at', takes: 'client|server', says: 'On which side of the hops', choices: ['client', 'server'] },
    { name: 'for', takes: 'D', says: 'It ends so long after it was added' },
    { name: 'until', takes: 'TIME', says: 'It ends then, e.g. 2026-12-01T18:00:00Z' },
    { name: 'file', takes: 'FILE|-', says: 'One fault or a list, as in a configuration, from a file or stdin' },
    ADMIN_FLAG,
  ],
  switches: [
    { name: 'announce', says: 'Adds x-impatient-fault where a head is still to be sent' },
    { name: 'json', says: 'For list: as the API has them' },
  ],
  examples: [
    ['faults list', 'where each came from, when it ends, how often it matched and acted'],
    ["faults add cut --name third --set after.events=3 --set ending=rst --when 'tool=search_*' --for 10m", 'one from flags'],
    ['faults add --file faults.yaml', 'as a configuration writes them; - is stdin'],
    ['faults remove third', 'what it held goes on, at once'],
  ],
  async run(args, world) {
    const { action = 'list', what } = args.positionals
    switch (action) {
      case 'list':
        return list(args, world)
      case 'add':
        return add(what, args, world)
      case 'remove':
        return what === undefined ? fail(world, 'faults remove: expected the name of a fault, got nothing') : remove(what, args, world)
      default:
        return fail(world, `faults: expected list, add or remove, got ${JSON.stringify(action)}${suggestion(action, ACTIONS)}`)
    }
  },
}

async function list(args: CommandArguments, world: World): Promise<ExitCode> {
  const asked = await askAdmin('/api/v1/faults', args, world)
  if ('code' in asked) return asked.code
  if (args.switches.has('json')) {
    world.out.print(JSON.stringify(asked.json, null, 2))
    return 0
  }
  const { faults = [], stopped = false } = asked.json as { readonly faults?: readonly ShownFault[]; readonly stopped?: boolean }
  const lines = faults.length === 0 ? ['No faults.'] : faultLines(faults)
  world.out.print([...lines, ...(stopped ? [`Stopped: none of them acts until ${PRODUCT} resume.`] : [])].join('\n'))
  return 0
}

async function add(kind: string | undefined, args: CommandArguments, world: World): Promise<ExitCode> {
  const { file } = args.flags
  if ((kind === undefined) === (file === undefined))
    return fail(world, 'faults add: expected the kind of fault or --file: for example faults add cut --name c --set after.events=3')
  const rules = kind === undefined ? readWritten(file, world, 'faults') : ruleOf(kind, args)
  if ('error' in rules) return fail(world, rules.error)
  for (const rule of rules.written) {
    const asked = await askAdmin('/api/v1/faults', args, world, { method: 'POST', body: rule })
    if ('code' in asked) return asked.code
    const { name, expiresAt } = asked.json as ShownFault
    world.out.print(`Added ${printable(name)}${expiresAt === null ? '' : `, until ${expiresAt}`}: exchanges opened from now on meet it.`)
  }
  return 0
}

function ruleOf(kind: string, args: CommandArguments): { readonly written: readonly unknown[] } | { readonly error: string } {
  if (!kinds().includes(kind)) return { error: `faults add: unknown kind of fault ${JSON.stringify(kind)}${suggestion(kind, kinds())}` }
  const made = ruleOfFlags(kind, args.flags, args.switches.has('announce'))
  return 'error' in made ? made : { written: [made.rule] }
}

async function remove(name: string, args: CommandArguments, world: World): Promise<ExitCode> {
  const asked = await askAdmin(`/api/v1/faults/${encodeURIComponent(name)}`, args, world, { method: 'DELETE' })
  if ('code' in asked) return asked.code
  world.out.print(`Removed ${printable(name)}: open exchanges go on without it.`)
  return 0
}

interface ShownFault {
  readonly name: string
  readonly when?: Readonly<Record<string, unknown>>
  readonly do: Readonly<Record<string, unknown>>
  readonly at?: string
  readonly enabled: boolean
  readonly origin: string
  readonly expiresAt: string | null
  readonly tally: FaultTally
}

export function faultLines(faults: readonly ShownFault[]): readonly string[] {
  const right = 'right' as const
  return columns(
    [
      { title: 'NAME' },
      { title: 'DOES' },
      { title: 'WHEN' },
      { title: 'FROM' },
      { title: 'ENDS' },
      { title: 'MATCHED', align: right },
      { title: 'ACTED', align: right },
      { title: 'NOTE' },
    ],
    faults.map((fault) => [
      printable(fault.name),
      printable(deedOf(fault.do)),
      printable(fault.when === undefined ? 'every exchange' : pairsOf(fault.when).join(' ')),
      fault.origin,
      fault.expiresAt ?? '-',
      String(fault.tally.matched),
      String(fault.tally.fired),
      noteOf(fault),
    ]),
  )
}

/** `cut after.events=3 ending=rst`. */
const deedOf = (form: ShownFault['do']): string =>
  Object.entries(form)
    .map(([kind, fields]) => [kind, ...pairsOf(fields)].join(' '))
    .join(' ')

function pairsOf(form: unknown, place = ''): readonly string[] {
  if (typeof form !== 'object' || form === null) return []
  return Object.entries(form).flatMap(([key, value]): readonly string[] =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? [`${place}${key}=${String(value)}`]
      : pairsOf(value, `${place}${key}.`),
  )
}

function noteOf({ enabled, tally }: ShownFault): string {
  const told = [
    ...(enabled ? [] : ['off']),
    ...(enabled && tally.matched + tally.skipped + tally.exempt === 0 ? ['never matched'] : []),
    ...(['skipped', 'exempt', 'capped'] as const).flatMap((what) => (tally[what] === 0 ? [] : [`${what} ${tally[what]}`])),
  ]
  return told.join(', ')
}

function fail(world: World, line: string): ExitCode {
  world.err.print(`${PRODUCT}: ${line}`)
  return 2
}
