/** What the commands that speak to a running sidecar share: where its admin port is, the token, and what to say when it does not answer. */
import type { Flag } from '../config/flags.ts'
import { environmentName, TOKEN_VARIABLE } from '../config/flags.ts'
import type { Parsed } from '../config/values.ts'
import { formatAddress, parseAddress, parseOrigin } from '../config/values.ts'
import type { CommandArguments } from './command.ts'
import type { ExitCode } from './exit-code.ts'
import { PRODUCT } from './product.ts'
import type { Sent, World } from './world.ts'

export const ADMIN_FLAG: Flag = {
  name: 'admin',
  takes: 'URL',
  says: `The running sidecar's admin port (default http://127.0.0.1:8475); its token is read from ${TOKEN_VARIABLE}`,
}

/** The answer's JSON, or how the command ends, its line being printed already. */
export type Asked = { readonly json: unknown } | { readonly code: ExitCode }

/** What is sent besides a GET. */
export interface Order {
  readonly method: Sent['method']
  readonly body?: unknown
}

/** What the sidecar refuses is the user's mistake: its own words, and exit code 2. */
export async function askAdmin(path: string, { flags }: CommandArguments, world: World, order: Order | null = null): Promise<Asked> {
  const fail = (code: ExitCode, line: string): Asked => {
    world.err.print(`${PRODUCT}: ${line}`)
    return { code }
  }
  const variable = environmentName('admin')
  const typed = flags['admin']
  const mirrored = world.env[variable]
  const from = typed === undefined && mirrored !== undefined && mirrored !== '' ? variable : '--admin'
  const written = typed ?? (from === variable ? mirrored : undefined) ?? 'http://127.0.0.1:8475'
  const origin = typeof written === 'string' ? parseAdmin(written) : { ok: false as const, problem: 'expected one value: give it once' }
  if (!origin.ok) return fail(2, `${from}: ${origin.problem}`)

  const token = world.env[TOKEN_VARIABLE] ?? ''
  const url = `${origin.value.origin}${path}`
  try {
    const { status, text } = await request(world, url, token === '' ? {} : { Authorization: `Bearer ${token}` }, order)
    if (status === 401) return fail(2, `${origin.value.origin} wants its token: set ${TOKEN_VARIABLE}`)
    if (order !== null && REFUSALS.includes(status)) return fail(2, detailOf(text))
    if (status === 204) return { json: null }
    if (status < 200 || status > 299) return fail(3, `${url} answered ${status}: ${detailOf(text)}`)
    return { json: JSON.parse(text) }
  } catch (error) {
    if (error instanceof SyntaxError) return fail(3, `${url} answered no JSON: is this a sidecar's admin port?`)
    return fail(3, `no sidecar answers at ${origin.value.origin}: start one with ${PRODUCT} run, or name its admin port with --admin URL`)
  }
}

const REFUSALS: readonly number[] = [400, 404, 409, 413, 422]

async function request(world: World, url: string, headers: Readonly<Record<string, string>>, order: Order | null) {
  if (order === null) return world.get(url, headers)
  if (world.send === undefined) throw new Error('this world only looks')
  const body = order.body === undefined ? null : JSON.stringify(order.body)
  return world.send({
    method: order.method,
    url,
    headers: { ...headers, ...(body === null ? {} : { 'Content-Type': 'application/json' }) },
    body,
  })
}

/** A URL, or an address as `run --admin` takes it; one that listens everywhere is reached here. */
function parseAdmin(text: string): Parsed<URL> {
  const address = /^[a-z]+:\/\//i.test(text) ? null : parseAddress(text)
  if (address === null || !address.ok) return parseOrigin(text)
  const { host, port } = address.value
  return { ok: true, value: new URL(`http://${formatAddress({ host: host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, port })}`) }
}

/** A problem's own words, shortened. */
function detailOf(text: string): string {
  try {
    const problem: unknown = JSON.parse(text)
    if (typeof problem === 'object' && problem !== null && 'detail' in problem) return String(problem.detail)
  } catch {
    // No JSON: its beginning will do.
  }
  return text.slice(0, 200).replaceAll(/\s+/g, ' ')
}
