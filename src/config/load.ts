/** The settings of a run, from flags over environment over file over defaults; or every complaint about them at once. */
import { randomInt } from 'node:crypto'
import { readFaults } from './faults.ts'
import type { SettingsFile } from './file.ts'
import { readSettingsFile } from './file.ts'
import { AFTER_CUTS, INJECTS, LOG_FORMATS, LOG_LEVELS, MODES, TOKEN_VARIABLE, UPSTREAM_ENGINES } from './flags.ts'
import type { Environment, FlagValues, Given } from './given.ts'
import { createGiven, unknownVariables } from './given.ts'
import { readPath } from './path.ts'
import type { Address, Settings, WorkSettings } from './snapshot.ts'
import {
  choiceOf,
  durationOf,
  formatAddress,
  isLoopback,
  parseAddress,
  parseAddressOrNone,
  parseFile,
  parseOrigin,
  parseSizeValue,
  wholeNumberOf,
} from './values.ts'

export interface LoadPorts {
  readonly flags: FlagValues
  readonly env: Environment
  /** The file's text. Throws the system's error, with its `code`. */
  readFile(path: string): string
  /** Where no seed was given. */
  drawSeed?(): number
}

export type Loaded =
  | { readonly settings: Settings; readonly warnings: readonly string[] }
  | { readonly errors: readonly string[]; readonly warnings?: readonly string[] }

const SEED_MAX = 2 ** 32 - 1
const MIB = 1_048_576
const LISTEN: Address = { host: '127.0.0.1', port: 8080 }
const ADMIN: Address = { host: '127.0.0.1', port: 8475 }
const OTLP: Address = { host: '127.0.0.1', port: 4318 }
const OTLP_GRPC: Address = { host: '127.0.0.1', port: 4317 }
const TOOLS_MAX = 50
const GRACE_MS = 2_000
const WAIT_MS = 60_000
const DRAIN_MS = 20_000
/** Stands in where only the rest is checked. */
const SOME_UPSTREAM = new URL('http://upstream.invalid')
const LIMITS = { heldBytesPerExchange: 16 * MIB, heldBytesTotal: 256 * MIB }

/** Complaints read `--flag: …`, `VARIABLE: …` or `FILE:LINE key: …`. Throws nothing for what a user wrote. */
export function loadSettings({ flags, env, readFile, drawSeed = () => randomInt(SEED_MAX) }: LoadPorts): Loaded {
  const given = createGiven(flags, env)
  const fileName = given.one('config', parseFile) ?? null
  const file = fileName === null ? null : readSettingsFile(fileName, env, readFile)
  if (file !== null && 'errors' in file) {
    const { unread } = merge(file.partial, given, env, drawSeed)
    return { errors: [...file.errors, ...unread], warnings: ignored(env, file.partial) }
  }
  const { settings, unread, unfit, warnings } = merge(file, given, env, drawSeed)
  const unknown = ignored(env, file)
  if (settings === null || unread.length + unfit.length > 0) return { errors: [...unread, ...unfit], warnings: unknown }
  return { settings, warnings: [...unknown, ...warnings] }
}

function ignored(env: Environment, file: SettingsFile | null): readonly string[] {
  const unknown = unknownVariables(env, file?.used ?? new Set())
  return unknown === null ? [] : [unknown]
}

export interface Checked {
  readonly errors: readonly string[]
  /** What is worth knowing of a file that may be used. */
  readonly notes: readonly string[]
}

/** What `run --config FILE` would say of this file, without other flags. An upstream may come from a flag: a note. */
export function checkSettingsFile(name: string, env: Environment, readFile: (path: string) => string): Checked {
  const given = createGiven({}, {})
  const file = readSettingsFile(name, env, readFile)
  if ('errors' in file) return { errors: [...file.errors, ...merge(file.partial, given, env, () => 0).unread], notes: [] }
  const lacksUpstream = file.settings.upstream === undefined
  const whole = lacksUpstream ? { ...file, settings: { ...file.settings, upstream: SOME_UPSTREAM } } : file
  const { unread, unfit, warnings } = merge(whole, given, env, () => 0)
  const note = `${name}: no upstream: give --upstream http://127.0.0.1:3000, or upstream: in this file`
  return { errors: [...unread, ...unfit], notes: [...warnings, ...(lacksUpstream ? [note] : [])] }
}

interface Merged {
  /** Null where no upstream is known. */
  readonly settings: Settings | null
  /** Complaints about single values. */
  readonly unread: readonly string[]
  /** Complaints about what is missing or does not go together: not to be trusted where the file could not be read. */
  readonly unfit: readonly string[]
  readonly warnings: readonly string[]
}

function merge(file: SettingsFile | null, given: Given, env: Environment, drawSeed: () => number): Merged {
  const written = file?.settings ?? {}
  const path = readPath(file, given)
  const upstream = given.one('upstream', parseOrigin) ?? written.upstream
  const wantsUpstream = upstream === undefined && !given.isGiven('upstream')
  const work = readWork(file, given)
  const { rules, safety, errors: faultErrors } = readFaults(file)
  const scenario = given.one('scenario', parseFile)
  const rest = {
    ...(scenario === undefined ? {} : { scenario }),
    upstreamEngine: given.one('upstream-engine', choiceOf(UPSTREAM_ENGINES)) ?? written.upstreamEngine ?? 'http-proxy',
    listen: given.one('listen', parseAddress) ?? written.listen ?? LISTEN,
    admin: readAdmin(file, given, env),
    metrics: {
      listen: pick(given.one('metrics-listen', parseAddressOrNone), written.metrics?.listen, null),
      toolsMax: written.metrics?.tools ?? TOOLS_MAX,
    },
    otlp: readOtlp(file, given),
    events: readEvents(given),
    drainMs: given.one('drain', durationOf()) ?? DRAIN_MS,
    log: {
      level: given.one('log-level', choiceOf(LOG_LEVELS)) ?? 'info',
      format: given.one('log-format', choiceOf(LOG_FORMATS)) ?? 'text',
    },
    limits: LIMITS,
    ...(file?.settings.faults === undefined && file?.settings.safety === undefined ? {} : { faults: { rules, safety } }),
    file: file?.name ?? null,
    snapshot: {
      mode: given.one('mode', choiceOf(MODES)) ?? written.mode ?? 'act',
      path: path.hops,
      work,
      seed: given.one('seed', wholeNumberOf(SEED_MAX)) ?? drawSeed(),
    },
  } satisfies Omit<Settings, 'upstream'>
  const settings = upstream === undefined ? null : { ...rest, upstream }
  const missing = wantsUpstream
    ? [
        "upstream: expected the MCP server's origin, got nothing: give --upstream http://127.0.0.1:3000, or upstream: in a file named by --config",
      ]
    : []
  const checked = settings === null ? { errors: [], warnings: [] } : checkTogether(settings, env)
  return {
    settings,
    unread: [...path.errors, ...faultErrors, ...given.errors],
    unfit: [...missing, ...checked.errors],
    warnings: [...path.warnings, ...checked.warnings],
  }
}

/** The first that was given; `null` is a value. */
const pick = <T>(first: T | undefined, second: T | undefined, otherwise: T): T =>
  first !== undefined ? first : second !== undefined ? second : otherwise

function readAdmin(file: SettingsFile | null, given: Given, env: Environment): Settings['admin'] {
  const token = env[TOKEN_VARIABLE]
  const listen = given.one('admin', parseAddress) ?? file?.settings.admin?.listen ?? ADMIN
  return { listen, token: (token === '' ? undefined : token) ?? file?.settings.admin?.token ?? null }
}

function readOtlp(file: SettingsFile | null, given: Given): Settings['otlp'] {
  const written = file?.settings.otlp
  const listen = pick(given.one('otlp', parseAddressOrNone), written?.listen, undefined)
  const grpc = pick(given.one('otlp-grpc', parseAddressOrNone), written?.grpc, undefined)
  return {
    listen: listen === undefined ? OTLP : listen,
    grpc: grpc === undefined ? OTLP_GRPC : grpc,
    forwardTo: written?.forwardTo ?? null,
    isDefault: listen === undefined,
    isGrpcDefault: grpc === undefined,
  }
}

function readEvents(given: Given): Settings['events'] {
  const file = given.one('events', parseFile)
  const bytesMax = given.one('events-max', parseSizeValue) ?? 100 * MIB
  return file === undefined ? null : { file, bytesMax }
}

function readWork(file: SettingsFile | null, given: Given): WorkSettings {
  const written = file?.settings.work
  return {
    graceMs: given.one('grace', durationOf()) ?? written?.grace ?? GRACE_MS,
    afterCut: given.one('after-cut', choiceOf(AFTER_CUTS)) ?? written?.afterCut ?? 'hang-up',
    waitMs: written?.wait ?? WAIT_MS,
    inject: given.one('inject', choiceOf(INJECTS)) ?? written?.inject ?? 'header',
    match: written?.match ?? [],
  }
}

/** What only shows when the values meet. */
function checkTogether(settings: Settings, env: Environment): { readonly errors: readonly string[]; readonly warnings: readonly string[] } {
  const { admin, listen, metrics, upstream } = settings
  const errors: string[] = []
  const warnings: string[] = []
  if (admin.token === null && !isLoopback(admin.listen.host)) {
    const open = `admin.listen: ${formatAddress(admin.listen)} is reachable from other machines and has no token`
    const remedy = `set ${TOKEN_VARIABLE} or admin.token, or listen on 127.0.0.1`
    if (env['KUBERNETES_SERVICE_HOST'] === undefined) errors.push(`${open}: ${remedy}`)
    else warnings.push(`${open}; allowed in Kubernetes, where a network policy should guard it: ${remedy}`)
  }
  const ports = [
    { key: 'listen', address: listen },
    { key: 'admin.listen', address: admin.listen },
    { key: 'metrics.listen', address: metrics.listen },
    { key: 'otlp.listen', address: settings.otlp.isDefault ? null : settings.otlp.listen },
    { key: 'otlp.grpc', address: settings.otlp.isGrpcDefault ? null : settings.otlp.grpc },
  ].flatMap(({ key, address }) => (address === null || address.port === 0 ? [] : [{ key, at: formatAddress(address) }]))
  for (const [index, { key, at }] of ports.entries()) {
    const earlier = ports.slice(0, index).find((other) => other.at === at)
    if (earlier !== undefined) errors.push(`${key}: ${at} is already used by ${earlier.key}: give each its own port`)
  }
  if (isReachedBy(listen, upstream)) {
    errors.push(`upstream: ${upstream.origin} is where the sidecar itself listens: give the server's own address, or another --listen`)
  }
  return { errors, warnings }
}

/** Whether a request for this origin would come to this listener: for sure, not by way of the machine's other names. */
function isReachedBy(listen: Address, { hostname, port, protocol }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (listen.port !== Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port)) return false
  return host === listen.host || (isLoopback(host) && (isLoopback(listen.host) || listen.host === '0.0.0.0' || listen.host === '::'))
}
