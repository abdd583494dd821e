/** Whether a rule means this exchange: its `when`, each key ANDed. */
import type { AskMeaning } from '../core/mcp/ask.ts'
import { headersTell } from '../core/mcp/ask.ts'
import type { RawHeaders, Request } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'
import type { When } from './fault-schema.ts'
import { createGlob } from './glob.ts'

export interface Matcher {
  /** What head and connection alone say; false: whatever the body says, it does not match. `path`: its target's. */
  mayMatch(head: Request, path: string, connection: number | null): boolean
  /** Whether more than the head is needed to know. */
  needsBody(head: Request): boolean
  /** Only after `mayMatch`. */
  matches(ask: AskMeaning): boolean
}

export function createMatcher(when: When): Matcher {
  const { method, tool, headers = {}, path, revision, client } = when
  const wanted: readonly WantedHeader[] = Object.entries(headers).map(([name, glob]) => ({
    name: name.toLowerCase(),
    matches: createGlob(glob),
  }))
  const isPath = path === undefined ? null : createGlob(path)
  const isMethod = createGlob(method ?? '*')
  const isTool = tool === undefined ? null : createGlob(tool)
  const isRevision = revision === undefined ? null : createGlob(revision)
  const isClient = client === undefined ? null : createGlob(client)
  return {
    mayMatch({ rawHeaders }, targetPath, connection) {
      if (when.connection !== undefined && connection !== null && when.connection !== connection) return false
      if (isPath !== null && !isPath(targetPath)) return false
      for (const header of wanted) if (!hasHeader(rawHeaders, header)) return false
      return true
    },
    needsBody({ method: httpMethod, rawHeaders }) {
      if (isClient !== null) return httpMethod === 'POST'
      if (isRevision !== null && headerOf(rawHeaders, 'mcp-protocol-version') === null) return httpMethod === 'POST'
      const asks = method !== undefined || tool !== undefined || when.kind !== undefined
      return asks && !headersTell(rawHeaders, httpMethod)
    },
    matches(ask) {
      if (when.kind !== undefined && when.kind !== ask.kind) return false
      if (isRevision !== null && (ask.revision === null || !isRevision(ask.revision))) return false
      if (isClient !== null && (ask.client === null || !isClient(ask.client))) return false
      if (method === undefined && isTool === null) return true
      for (const asked of ask.requests) {
        if (isMethod(asked.method) && (isTool === null || (asked.tool !== null && isTool(asked.tool)))) return true
      }
      return isTool === null && ask.notifications.some((said) => isMethod(said.method))
    },
  }
}

/** Without origin, query and fragment. */
export const pathOf = (target: string): string =>
  target.startsWith('/') && !/[?#]/.test(target) ? target : target.replace(/^https?:\/\/[^/]*/i, '').replace(/[?#].*$/s, '')

interface WantedHeader {
  /** In lower case. */
  readonly name: string
  matches(value: string): boolean
}

/** Any of its values will do. */
function hasHeader(rawHeaders: RawHeaders, { name, matches }: WantedHeader): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const key = rawHeaders[at] as string
    if (key.length === name.length && key.toLowerCase() === name && matches(rawHeaders[at + 1] as string)) return true
  }
  return false
}
