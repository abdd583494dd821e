/** The paths a judgement is asked of: `--hop` once each, a configuration file's, or every preset. */
import { readSettingsFile } from '../config/file.ts'
import type { Flag } from '../config/flags.ts'
import { createGiven } from '../config/given.ts'
import { readPath } from '../config/path.ts'
import { listPresets } from '../config/presets.ts'
import type { Candidate } from '../predict/candidate.ts'
import { candidateOf } from '../predict/candidate.ts'
import type { CommandArguments } from './command.ts'
import type { World } from './world.ts'

export const CANDIDATE_FLAGS: readonly Flag[] = [
  {
    name: 'hop',
    takes: 'NAME[:limit.after=D]',
    says: 'A path to judge; repeatable, each time another path; a comma list is one path of several hops, client side first',
    isList: true,
  },
  {
    name: 'config',
    takes: 'FILE',
    says: 'The path of this configuration file, and no others unless --hop is given too (default: every preset)',
  },
]

export type Candidates = { readonly candidates: readonly Candidate[] } | { readonly errors: readonly string[] }

/** Complaints read `--hop: …` or `FILE:LINE path[0]: …`. */
export function readCandidates({ flags }: CommandArguments, { env, readFile }: Pick<World, 'env' | 'readFile'>): Candidates {
  const { hop: typed, config } = flags
  const asked = typed === undefined ? [] : typeof typed === 'string' ? [typed] : typed
  const candidates: Candidate[] = []
  const errors: string[] = []
  if (config !== undefined) {
    if (typeof config !== 'string') return { errors: ['--config: expected one value: give it once'] }
    const file = readSettingsFile(config, env, readFile)
    if ('errors' in file) return file
    const { hops, errors: wrong } = readPath(file, createGiven({}, {}))
    errors.push(...wrong)
    candidates.push(candidateOf(config, hops))
  }
  for (const name of asked.length > 0 || config !== undefined ? asked : listPresets()) {
    const { hops, errors: wrong } = readPath(null, createGiven({ hop: name }, {}))
    errors.push(...wrong)
    candidates.push(candidateOf(name, hops))
  }
  return errors.length > 0 ? { errors } : { candidates }
}
