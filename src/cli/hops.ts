/** `hops`: the presets, and one of them in full. */
import { listPresets, readPreset } from '../config/presets.ts'
import { suggestion } from '../core/suggest.ts'
import { formatDuration } from '../core/units.ts'
import { effectiveLimits } from '../hops/effective.ts'
import type { HopFile } from '../hops/hop-schema.ts'
import { resolveHop } from '../hops/resolve.ts'
import { columns } from './columns.ts'
import type { Command } from './command.ts'
import type { ExitCode } from './exit-code.ts'
import { bufferInWords, fieldsInWords } from './hop-words.ts'
import { PRODUCT } from './product.ts'
import type { World } from './world.ts'

const ACTIONS = ['show'] as const

export const hopsCommand: Command = {
  name: 'hops',
  says: 'List the hops there are, with their limits, or show one in full',
  positionals: [
    { name: 'action', says: 'show', choices: () => ACTIONS },
    { name: 'name', says: 'The hop to show', choices: listPresets },
  ],
  examples: [
    ['hops', 'names, limits and how sure we are of them'],
    ['hops show nginx', 'its manners, its sources, and what is known by report only'],
  ],
  async run({ positionals: { action, name } }, world) {
    if (action === undefined) {
      world.out.print(hopLines().join('\n'))
      return 0
    }
    if (action === 'show' && name !== undefined) return show(name, world)
    const problem =
      action === 'show' ? 'hops show: expected the name of a hop, got nothing' : `hops: expected show, got ${JSON.stringify(action)}`
    world.err.print(`${PRODUCT}: ${problem}: for example ${PRODUCT} hops show nginx`)
    return 2
  },
}

function show(name: string, world: World): ExitCode {
  const read = readPreset(name)
  if (read === null || 'errors' in read) {
    const errors = read === null ? [`hops show: unknown hop ${JSON.stringify(name)}${suggestion(name, listPresets())}`] : read.errors
    for (const error of errors) world.err.print(`${PRODUCT}: ${error}`)
    return 2
  }
  world.out.print(fieldsInWords(name, read.value, world.out.paint).join('\n'))
  return 0
}

/** A line a preset. One that cannot be read says so, and the others are listed all the same. */
function hopLines(): readonly string[] {
  const rows = listPresets().map((name): readonly string[] => {
    const read = readPreset(name)
    return read !== null && 'value' in read
      ? rowOf(name, read.value)
      : [name, '', '', '', '', '', 'cannot be read: impatient-hop hops show it']
  })
  const right = 'right' as const
  return columns(
    [
      { title: 'HOP' },
      { title: 'HEADERS', align: right },
      { title: 'IDLE', align: right },
      { title: 'TOTAL', align: right },
      { title: 'BUFFER' },
      { title: 'KNOWN' },
      { title: 'TITLE' },
    ],
    rows,
  )
}

function rowOf(name: string, file: HopFile): readonly string[] {
  const hop = resolveHop(file, { name, preset: name })
  const { headers, idle, total } = effectiveLimits([hop])
  const after = (limit: { readonly ms: number } | null): string => (limit === null ? '-' : formatDuration(limit.ms))
  const mode = hop.buffering?.mode ?? 'none'
  return [
    name,
    after(headers),
    after(idle),
    after(total),
    mode === 'none' ? '-' : bufferInWords(mode),
    file.confidence ?? '',
    file.title ?? '',
  ]
}
