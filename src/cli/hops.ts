/** `hops`: the presets, one of them in full, two side by side, or the page of all. */
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
import type { Compared } from './hops-compare.ts'
import { compareLines } from './hops-compare.ts'
import { presetsPage } from './hops-page.ts'
import { PRODUCT } from './product.ts'
import type { World } from './world.ts'

const ACTIONS = ['show', 'compare', 'page'] as const

export const hopsCommand: Command = {
  name: 'hops',
  says: 'List the hops there are, with their limits; show one in full, or compare two',
  positionals: [
    { name: 'action', says: 'show, compare, or page for the Markdown page of all', choices: () => ACTIONS },
    { name: 'name', says: 'The hop to show, or to compare', choices: listPresets },
    { name: 'other', says: 'The hop to compare it with', choices: listPresets },
  ],
  examples: [
    ['hops', 'names, limits and how sure we are of them'],
    ['hops show nginx', 'its manners, its sources, and what is known by report only'],
    ['hops compare nginx haproxy', 'where they differ, and how each is known'],
  ],
  async run({ positionals: { action, name, other } }, world) {
    if (action === undefined) {
      world.out.print(hopLines().join('\n'))
      return 0
    }
    if (action === 'page' && name === undefined) return page(world)
    if (action === 'show' && name !== undefined && other === undefined) return show(name, world)
    if (action === 'compare' && name !== undefined && other !== undefined) return compare(name, other, world)
    world.err.print(`${PRODUCT}: ${problemOf(action, name)}`)
    return 2
  },
}

function problemOf(action: string, name: string | undefined): string {
  const example = (line: string): string => `for example ${PRODUCT} hops ${line}`
  if (action === 'show')
    return `hops show: expected the name of ${name === undefined ? 'a hop, got nothing' : 'one hop'}: ${example('show nginx')}`
  if (action === 'compare') return `hops compare: expected the names of two hops: ${example('compare nginx haproxy')}`
  if (action === 'page') return `hops page: expected no further word: ${example('page > config/hops/README.md')}`
  return `hops: expected show, compare or page, got ${JSON.stringify(action)}: ${example('show nginx')}`
}

function show(name: string, world: World): ExitCode {
  const found = find('show', name, world)
  if (found === null) return 2
  world.out.print(fieldsInWords(name, found.file, world.out.paint).join('\n'))
  return 0
}

function compare(name: string, other: string, world: World): ExitCode {
  const [a, b] = [find('compare', name, world), find('compare', other, world)]
  if (a === null || b === null) return 2
  world.out.print(compareLines(a, b, world.out.paint).join('\n'))
  return 0
}

function page(world: World): ExitCode {
  const presets = listPresets().map((name) => find('page', name, world))
  if (presets.includes(null)) return 2
  world.out.write(presetsPage(presets.filter((preset) => preset !== null)))
  return 0
}

/** Null: what is wrong is printed. */
function find(action: string, name: string, world: World): Compared | null {
  const read = readPreset(name)
  if (read !== null && 'value' in read) return { name, file: read.value, hop: resolveHop(read.value, { name, preset: name }) }
  const errors = read === null ? [`hops ${action}: unknown hop ${JSON.stringify(name)}${suggestion(name, listPresets())}`] : read.errors
  for (const error of errors) world.err.print(`${PRODUCT}: ${error}`)
  return null
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
