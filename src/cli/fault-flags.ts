/** A fault from flags: `faults add cut --set after.events=3 --when tool=search_*` → the rule as a file would have it. */
import { parse } from 'yaml'
import type { FlagValues } from '../config/given.ts'

export type RuleWritten = { readonly rule: Readonly<Record<string, unknown>> } | { readonly error: string }

/** What is a number or a list in a rule; the rest is text, whatever it looks like. */
const NUMBERS: readonly string[] = ['probability', 'nth', 'connection']

/** Values are judged by the sidecar; here only whether they can be put together. */
export function ruleOfFlags(kind: string, flags: FlagValues, isAnnounced: boolean): RuleWritten {
  const name = one(flags['name'])
  if (name === undefined) return { error: '--name: expected the name of the fault, given once' }
  const deed: Record<string, unknown> = {}
  for (const text of listOf(flags['set'])) {
    const pair = pairOf(text)
    if (pair === null) return { error: `--set: expected KEY=VALUE such as after.events=3, got ${JSON.stringify(text)}` }
    put(deed, pair.key.split('.'), scalar(pair.value))
  }
  const when: Record<string, unknown> = {}
  for (const text of listOf(flags['when'])) {
    const pair = pairOf(text)
    if (pair === null) return { error: `--when: expected KEY=VALUE such as tool=search_*, got ${JSON.stringify(text)}` }
    if (pair.key.startsWith('header:')) put(when, ['headers', pair.key.slice('header:'.length)], pair.value)
    else when[pair.key] = NUMBERS.includes(pair.key) ? numbersOf(pair) : pair.value
  }
  const more = ['at', 'for', 'until'].flatMap((key) => (one(flags[key]) === undefined ? [] : [[key, one(flags[key])] as const]))
  return {
    rule: {
      name,
      ...(Object.keys(when).length === 0 ? {} : { when }),
      do: { [kind]: deed },
      ...Object.fromEntries(more),
      ...(isAnnounced ? { announce: true } : {}),
    },
  }
}

const one = (typed: FlagValues[string]): string | undefined => (typeof typed === 'string' ? typed : undefined)
const listOf = (typed: FlagValues[string]): readonly string[] => (typed === undefined ? [] : typeof typed === 'string' ? [typed] : typed)

function pairOf(text: string): { readonly key: string; readonly value: string } | null {
  const at = text.indexOf('=')
  const key = text.slice(0, Math.max(0, at))
  return key === '' || key.split('.').includes('') ? null : { key, value: text.slice(at + 1) }
}

/** As YAML reads a plain value; what it cannot read stays text. */
function scalar(text: string): unknown {
  try {
    return parse(text) ?? text
  } catch {
    return text
  }
}

const numbersOf = ({ key, value }: { key: string; value: string }): unknown =>
  key === 'nth' && value.includes(',') ? value.split(',').map(scalar) : scalar(value)

function put(into: Record<string, unknown>, [key = '', ...keys]: readonly string[], value: unknown): void {
  if (keys.length === 0) {
    into[key] = value
    return
  }
  const inner = into[key]
  const nested = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {}
  into[key] = nested
  put(nested, keys, value)
}
