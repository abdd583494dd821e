/** What was given on the command line and in the environment: as text, with the name to blame in a message. */

import { nearest } from '../core/suggest.ts'
import type { Flag } from './flags.ts'
import { environmentName, RUN_FLAGS, TOKEN_VARIABLE } from './flags.ts'
import type { Parse } from './values.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** As a command line yields them: a repeated flag is a list. Names without dashes. */
export type FlagValues = Readonly<Record<string, string | readonly string[] | undefined>>

interface GivenValue {
  /** `--listen` or `IMPATIENT_LISTEN`. */
  readonly from: string
  readonly values: readonly string[]
}

export interface Given {
  /** The flag's value, read; undefined where it was not given, or refused (then an error is noted). */
  one<T>(flag: string, parse: Parse<T>): T | undefined
  /** The flag's values, commas split, as they are; undefined where it was not given. */
  list(flag: string): GivenValue | undefined
  isGiven(flag: string): boolean
  readonly errors: string[]
}

/** Flags win over the environment. An empty variable counts as unset, as compose files write them. */
export function createGiven(flags: FlagValues, env: Environment): Given {
  const errors: string[] = []
  const found = new Map(RUN_FLAGS.flatMap((flag) => givenOf(flag, flags, env).map((value) => [flag.name, value] as const)))
  return {
    errors,
    isGiven: (flag) => found.has(flag),
    list: (flag) => found.get(flag),
    one(flag, parse) {
      const given = found.get(flag)
      if (given === undefined) return undefined
      if (given.values.length > 1) {
        errors.push(
          `${given.from}: expected one value, got ${given.values.map((value) => JSON.stringify(value)).join(' and ')}: give it once`,
        )
        return undefined
      }
      const parsed = parse(given.values[0] ?? '')
      if (parsed.ok) return parsed.value
      errors.push(`${given.from}: ${parsed.problem}`)
      return undefined
    },
  }
}

function givenOf(flag: Flag, flags: FlagValues, env: Environment): GivenValue[] {
  const typed = flags[flag.name]
  const variable = environmentName(flag.name)
  const mirrored = env[variable]
  if (typed !== undefined) return [{ from: `--${flag.name}`, values: split(flag, typeof typed === 'string' ? [typed] : typed) }]
  return mirrored === undefined || mirrored === '' ? [] : [{ from: variable, values: split(flag, [mirrored]) }]
}

const split = (flag: Flag, values: readonly string[]): readonly string[] =>
  flag.isList === true ? values.flatMap((value) => value.split(',').map((part) => part.trim())) : values

const PREFIX = 'IMPATIENT_'

/** What Kubernetes sets in every pod beside a service of this name: nobody asked for it, so nothing is said of it. */
const SERVICE_LINK = /^IMPATIENT_HOP_(SERVICE_|PORT)/
/** What the probe reads in the server, which may share our environment. */
const PROBES_OWN = 'IMPATIENT_HOP_WORK_URL'

/** One line that names every `IMPATIENT_*` variable nothing reads, or null. `used`: those a file refers to. */
export function unknownVariables(env: Environment, used: ReadonlySet<string>): string | null {
  const known = [...RUN_FLAGS.map(({ name }) => environmentName(name)), TOKEN_VARIABLE]
  const unknown = Object.keys(env)
    .filter(
      (name) => name.startsWith(PREFIX) && !known.includes(name) && !used.has(name) && !SERVICE_LINK.test(name) && name !== PROBES_OWN,
    )
    .sort()
    .map((name) => {
      // The prefix is common to all, and would make everything near.
      const meant = nearest(
        name.slice(PREFIX.length),
        known.map((one) => one.slice(PREFIX.length)),
      )
      return meant === null ? name : `${name} (did you mean ${PREFIX}${meant}?)`
    })
  return unknown.length === 0 ? null : `ignored, for nothing reads ${unknown.length === 1 ? 'it' : 'them'}: ${unknown.join(', ')}`
}
