/** What is in force: the file's faults, those of the API over them, the path, and whether everything is stopped. Each change gives a new state. */

import type { Hop } from '../hops/hop.ts'
import type { FaultRule, Safety } from './fault-schema.ts'
import type { ActiveFault } from './planner.ts'
import type { Now, Refusal } from './read-rule.ts'
import { endOf, isRefusalOf, readRule } from './read-rule.ts'

export type { Now, Refusal } from './read-rule.ts'
export { endOf } from './read-rule.ts'

export interface FaultEntry extends ActiveFault {
  readonly origin: 'file' | 'api' | 'scenario'
}
/** A path set by the API, in place of the file's. */
export interface OwnPath {
  /** Tells the exchanges that opened with it from others. */
  readonly id: number
  readonly hops: readonly Hop[]
  readonly expiresAtMs: number | null
}
/** The phase of a scenario, over everything else. */
export interface ScenarioLayer {
  readonly id: number
  /** Null: the path stays what it is. */
  readonly hops: readonly Hop[] | null
  readonly faults: readonly FaultEntry[]
}
export interface ControlState {
  readonly file: readonly FaultEntry[]
  readonly api: readonly FaultEntry[]
  /** The file's faults that were taken away or have ended, by name, as written: they stay away while the file says the same of them. */
  readonly gone: ReadonlyMap<string, string>
  readonly filePath: readonly Hop[]
  readonly ownPath: OwnPath | null
  readonly scenario: ScenarioLayer | null
  readonly pathsMade: number
  readonly safety: Safety
  readonly isStopped: boolean
}

/** Whose seats are to leave the open exchanges. */
export type Release =
  | { readonly is: 'fault'; readonly name: string }
  | { readonly is: 'path'; readonly id: number }
  | { readonly is: 'all' }

export interface Change {
  readonly state: ControlState
  readonly releases: readonly Release[]
  /** Faults that begin anew or are gone: their counts are to be forgotten. */
  readonly forgets: readonly string[]
}
export interface FromFile {
  readonly rules: readonly FaultRule[]
  readonly safety: Safety
  readonly path: readonly Hop[]
}

export const API_FAULTS_MAX = 100

export const isRefusal = (result: Change | Refusal): result is Refusal => 'status' in result

export function initialControl(from: FromFile, now: Now): ControlState {
  const empty: ControlState = {
    file: [],
    api: [],
    gone: new Map(),
    filePath: [],
    ownPath: null,
    scenario: null,
    pathsMade: 0,
    safety: {},
    isStopped: false,
  }
  return reloadFile(empty, from, now).state
}

/** In force now, in list order; disabled ones too, for they are shown. One of the API stands in the place of the file's of its name, a scenario's in either's. */
export function faultsInForce({ file, api, scenario }: ControlState): readonly FaultEntry[] {
  const over = (under: readonly FaultEntry[], upper: readonly FaultEntry[]): readonly FaultEntry[] => {
    const own = new Map(upper.map((entry) => [entry.rule.name, entry]))
    const inPlace = under.map((entry) => own.get(entry.rule.name) ?? entry)
    return [...inPlace, ...upper.filter((entry) => !inPlace.includes(entry))]
  }
  return over(over(file, api), scenario?.faults ?? [])
}

/** What new exchanges meet. */
export function inForce(state: ControlState): {
  readonly faults: readonly ActiveFault[]
  readonly path: readonly Hop[]
  readonly pathId: number | null
} {
  if (state.isStopped) return { faults: [], path: [], pathId: null }
  const own = state.scenario !== null && state.scenario.hops !== null ? { id: state.scenario.id, hops: state.scenario.hops } : state.ownPath
  return { faults: faultsInForce(state), path: own?.hops ?? state.filePath, pathId: own?.id ?? null }
}

export function addFault(state: ControlState, written: unknown, now: Now): Change | Refusal {
  const rule = readRule(written, state.safety, now)
  if (isRefusalOf(rule)) return rule
  if (state.api.some((entry) => entry.rule.name === rule.name))
    return { status: 409, key: 'name', message: `name: a fault "${rule.name}" is there already: PATCH or DELETE it` }
  if (state.api.length >= API_FAULTS_MAX)
    return { status: 409, key: 'name', message: `name: ${API_FAULTS_MAX} faults are there already: DELETE one` }
  const entry: FaultEntry = { rule, origin: 'api', expiresAtMs: endOf(rule, now) }
  return { state: { ...state, api: [...state.api, entry] }, releases: [], forgets: [rule.name] }
}

/** Keys given replace the rule's; null takes a key away. A new end counts from now. Switching it off takes it away from open exchanges. */
export function patchFault(state: ControlState, name: string, patch: unknown, now: Now): Change | Refusal {
  const entry = faultsInForce(state).find(({ rule }) => rule.name === name)
  if (entry === undefined) return noSuchFault(name)
  if (entry.origin === 'scenario')
    return { status: 409, key: 'name', message: `name: "${name}" belongs to the running scenario: DELETE it, or end the scenario` }
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch))
    return { status: 422, key: 'body', message: 'body: expected an object with the keys to change' }
  if ('name' in patch && patch.name !== name)
    return { status: 422, key: 'name', message: 'name: a fault keeps its name: DELETE it and add another' }
  const asked: Record<string, unknown> = { ...entry.rule }
  const given = Object.entries(patch)
  // A new end takes the place of the old one, however that was written.
  if (given.some(([key, value]) => key === 'for' && value !== null)) delete asked['until']
  if (given.some(([key, value]) => key === 'until' && value !== null)) delete asked['for']
  for (const [key, value] of given) {
    if (value === null) delete asked[key]
    else asked[key] = value
  }
  const hasNewEnd = 'for' in patch || 'until' in patch
  const rule = readRule(asked, state.safety, now)
  if (isRefusalOf(rule)) return rule
  const changed: FaultEntry = { rule, origin: 'api', expiresAtMs: hasNewEnd ? endOf(rule, now) : entry.expiresAtMs }
  const isNew = !state.api.includes(entry)
  const api = isNew ? [...state.api, changed] : state.api.map((other) => (other === entry ? changed : other))
  return {
    state: { ...state, api },
    releases: rule.enabled === false && entry.rule.enabled !== false ? [{ is: 'fault', name }] : [],
    forgets: JSON.stringify(rule.when) === JSON.stringify(entry.rule.when) ? [] : [name],
  }
}

/** Gone wherever it came from; the file's stays away until the file says something else of it. */
export function removeFault(state: ControlState, name: string): Change | Refusal {
  if (!faultsInForce(state).some(({ rule }) => rule.name === name)) return noSuchFault(name)
  const left = without(state, (entry) => entry.rule.name === name)
  return { state: left, releases: [{ is: 'fault', name }], forgets: [name] }
}

/** What ends by `atMs`. */
export function expire(state: ControlState, atMs: number): Change {
  const isOver = ({ expiresAtMs }: { readonly expiresAtMs: number | null }): boolean => expiresAtMs !== null && expiresAtMs <= atMs
  const over = [...state.file, ...state.api].filter(isOver)
  const names = [...new Set(over.map(({ rule }) => rule.name))]
  const path = state.ownPath !== null && isOver(state.ownPath) ? state.ownPath : null
  if (over.length === 0 && path === null) return { state, releases: [], forgets: [] }
  return {
    state: { ...without(state, isOver), ownPath: path === null ? state.ownPath : null },
    releases: [...names.map((name) => ({ is: 'fault', name }) as const), ...(path === null ? [] : [{ is: 'path', id: path.id } as const])],
    forgets: names,
  }
}

/** The earliest end there is; null: none. */
export function nextEndMs({ file, api, ownPath }: ControlState): number | null {
  const ends = [...file, ...api, ...(ownPath === null ? [] : [ownPath])].flatMap(({ expiresAtMs }) => expiresAtMs ?? [])
  return ends.length === 0 ? null : Math.min(...ends)
}

/** A rule that reads as before keeps its end and its counts; what the API did stays; open exchanges are not touched. */
export function reloadFile(state: ControlState, { rules, safety, path }: FromFile, now: Now): Change {
  const before = new Map(state.file.map((entry) => [entry.rule.name, entry]))
  const gone = new Map<string, string>()
  const forgets: string[] = []
  const file = rules.flatMap((rule): FaultEntry[] => {
    const text = JSON.stringify(rule)
    if (state.gone.get(rule.name) === text) {
      gone.set(rule.name, text)
      return []
    }
    const old = before.get(rule.name)
    if (old !== undefined && JSON.stringify(old.rule) === text) return [old]
    forgets.push(rule.name)
    return [{ rule, origin: 'file', expiresAtMs: endOf(rule, now) }]
  })
  const left = [...before.keys()].filter((name) => !rules.some((rule) => rule.name === name))
  const own = new Set(state.api.map(({ rule }) => rule.name))
  return {
    state: { ...state, file, gone, safety, filePath: path },
    releases: [],
    forgets: [...forgets, ...left].filter((name) => !own.has(name)),
  }
}

export function setPath(state: ControlState, hops: readonly Hop[], expiresAtMs: number | null): Change {
  const id = state.pathsMade + 1
  return { state: { ...state, ownPath: { id, hops, expiresAtMs }, pathsMade: id }, releases: [], forgets: [] }
}

/** Back to the file's; the API's is taken away from open exchanges. */
export function resetPath(state: ControlState): Change {
  return { state: { ...state, ownPath: null }, releases: state.ownPath === null ? [] : [{ is: 'path', id: state.ownPath.id }], forgets: [] }
}

/** Pass-through for all, until `resume`: nothing else takes it back. */
export const stop = (state: ControlState): Change => ({ state: { ...state, isStopped: true }, releases: [{ is: 'all' }], forgets: [] })
export const resume = (state: ControlState): Change => ({ state: { ...state, isStopped: false }, releases: [], forgets: [] })

function without(state: ControlState, isGone: (entry: FaultEntry) => boolean): ControlState {
  const gone = new Map(state.gone)
  for (const entry of state.file) if (isGone(entry)) gone.set(entry.rule.name, JSON.stringify(entry.rule))
  const left = (entries: readonly FaultEntry[]): readonly FaultEntry[] => entries.filter((entry) => !isGone(entry))
  const scenario = state.scenario === null ? null : { ...state.scenario, faults: left(state.scenario.faults) }
  return { ...state, gone, scenario, file: left(state.file), api: left(state.api) }
}

const noSuchFault = (name: string): Refusal => ({
  status: 404,
  key: 'name',
  message: `name: no fault "${name}"; GET /api/v1/faults lists them`,
})
