/** The page of all presets, `config/hops/README.md`, made from their files: `impatient-hop hops page`. */
import { formatDuration } from '../core/units.ts'
import { effectiveLimits } from '../hops/effective.ts'
import type { Field } from './hop-manners.ts'
import { FIELDS, mannerOf } from './hop-manners.ts'
import type { Compared } from './hops-compare.ts'
import { knownBy } from './hops-compare.ts'

/** Markdown, with its last newline. */
export function presetsPage(presets: readonly Compared[]): string {
  const head = [
    '# Hops',
    '',
    'Every preset: what it cuts after, how, and how that is known. This page is made from the files beside it:',
    '`impatient-hop hops page > config/hops/README.md`.',
    '',
    '**measured** on the real program, **documented** by its maker, **reported** by its users, **assumed** where the file says nothing',
    'and what HTTP proxies do is played. With `impatient-hop hops compare nginx haproxy` two are set side by side.',
    '',
    '| hop | headers | idle | total | known | what it is |',
    '|---|---|---|---|---|---|',
    ...presets.map(row),
    '',
  ]
  return `${[...head, ...presets.flatMap(section)].join('\n').trimEnd()}\n`
}

function row({ name, file, hop }: Compared): string {
  const { headers, idle, total } = effectiveLimits([hop])
  const after = (limit: { readonly ms: number } | null): string => (limit === null ? '–' : formatDuration(limit.ms))
  return `| [${name}](#${anchorOf(name)}) | ${after(headers)} | ${after(idle)} | ${after(total)} | ${file.confidence ?? ''} | ${cell(file.title ?? '')} |`
}

/** As GitHub makes it of the heading. */
const anchorOf = (name: string): string => name.toLowerCase().replaceAll('.', '')
const cell = (text: string): string => text.replaceAll('|', '\\|')

function section(preset: Compared): readonly string[] {
  const { name, file, hop } = preset
  const reported = FIELDS.filter((field) => knownBy(file, field) === 'reported')
  return [
    `## ${name}`,
    '',
    `${file.title ?? ''}${file.checked === undefined ? '' : `. Checked ${file.checked}.`}`,
    '',
    '| field | what it does | known |',
    '|---|---|---|',
    ...FIELDS.map((field: Field) => `| ${field} | ${cell(mannerOf(hop, field))} | ${knownBy(file, field)} |`),
    '',
    ...(reported.length === 0 ? [] : [`Known by report only, neither measured nor documented: ${reported.join(', ')}.`, '']),
    ...(file.source === undefined ? [] : [...file.source.map((text) => `- ${text}`), '']),
  ]
}
