/** Whether a rule means this exchange: its `when`, each key ANDed. */
import type { AskMeaning } from '../core/mcp/ask.ts'
import { headersTell } from '../core/mcp/ask.ts'
import type { RawHeaders, Request } from '../core/signal.ts'
import { headerOf } from '../core/signal.ts'
import type { When } from './fault-schema.ts'
import { createGlob } from './glob.ts'

export interface Matcher {
  /** What head and connection alone say; false: whatever the body says, it does not match. */
  mayMatch(head: Request, connection: number | null): boolean
  /** Whether more than the head is needed to know. */
  needsBody(head: Request): boolean
  /** Only after `mayMatch`. */
  matches(ask: AskMeaning): boolean
}

export function createMatcher(when: When): Matcher {
  const { method, tool, headers = {}, path, revision, client } = when
  const wanted = Object.entries(headers).map(([name, glob]) => ({ name: name.toLowerCase(), matches: createGlob(glob) }))
  const isPath = path === undefined ? null : createGlob(path)
  const isMethod = createGlob(method ?? '*')
  const isTool = tool === undefined ? null : createGlob(tool)
  const isRevision = revision === undefined ? null : createGlob(revision)
  const isClient = client === undefined ? null : createGlob(client)
  return {
    mayMatch({ target, rawHeaders }, connection) {
      if (when.connection !== undefined && connection !== null && when.connection !== connection) return false
      if (isPath !== null && !isPath(pathOf(target))) return false
      return wanted.every((header) => valuesOf(rawHeaders, header.name).some(header.matches))
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
      const messages = [...ask.requests, ...ask.notifications.map((said) => ({ method: said.method, tool: null }))]
      return messages.some((said) => isMethod(said.method) && (isTool === null || (said.tool !== null && isTool(said.tool))))
    },
  }
}

const pathOf = (target: string): string => target.replace(/^https?:\/\/[^/]*/i, '').replace(/[?#].*$/s, '')

function valuesOf(rawHeaders: RawHeaders, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name)
}
