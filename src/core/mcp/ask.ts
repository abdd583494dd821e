/** What an HTTP request says in MCP's terms: read from its headers and, where they do not tell, from its JSON body. */
import type { RawHeaders } from '../signal.ts'
import { headerOf } from '../signal.ts'
import type { Mirrored } from './envelope.ts'
import { readEnvelope } from './envelope.ts'
import { cancelsByClosing } from './revision.ts'

export type ExchangeKind = 'call' | 'subscription' | 'notification' | 'get_sse' | 'websocket' | 'other'

/** One JSON-RPC request. Ids and tokens are raw JSON text (`7`, `"a"`, `9007199254740993`), for numbers beyond 2^53 must not be rounded. */
export interface RpcRequest {
  /** `''` while only the headers are known: the body will tell. */
  readonly id: string
  readonly method: string
  /** The tool of a `tools/call`, decoded. */
  readonly tool: string | null
  readonly progressToken: string | null
  /** `params._meta.traceparent`, where a client puts it (SEP-414). */
  readonly traceparent: string | null
  /** Of the parameters but `_meta`: two calls with the same one ask the same. Null while only the headers are known. */
  readonly paramsHash: number | null
  /** `params.taskId`: the task it is about. */
  readonly taskId: string | null
}

export interface RpcNotification {
  readonly method: string
  /** `params.requestId` of a `notifications/cancelled`, raw JSON text. */
  readonly requestId: string | null
}

export interface AskMeaning {
  readonly kind: ExchangeKind
  readonly requests: readonly RpcRequest[]
  readonly notifications: readonly RpcNotification[]
  /** `MCP-Protocol-Version`, else `_meta`'s, else what `initialize` asks for; null: unknown. */
  readonly revision: string | null
  /** `clientInfo.name`, where the request carries it; else the product token of User-Agent. */
  readonly client: string | null
  /** `Mcp-Session-Id`, else the `sessionId` of a 2024-11-05 message address. */
  readonly session: string | null
  /** Where a header and the body differ, in one line that names both; null where they do not, or are not both known. */
  readonly mismatch: string | null
}

export interface AskHead {
  readonly method: string
  readonly target: string
  readonly rawHeaders: RawHeaders
}

/** A batch is told apart up to here; what is beyond rides along unnamed. */
export const BATCH_MAX = 100
const LISTEN = 'subscriptions/listen'

/** Whether the headers alone say what is asked, so that nobody needs to wait for the body: 2026-07-28, or a method without one. */
export function headersTell(rawHeaders: RawHeaders, method: string): boolean {
  if (method !== 'POST') return true
  const revision = headerOf(rawHeaders, 'mcp-protocol-version')
  const says = headerOf(rawHeaders, 'mcp-method')
  if (says === null || (revision !== null && revision < '2026-07-28')) return false
  return says !== 'tools/call' || headerOf(rawHeaders, 'mcp-name') !== null
}

/**
 * What is asked. `body`: the whole body, or null where it is not (yet) known, longer than 1 MiB, or encoded.
 * Never throws: what is not MCP is of kind `other`.
 */
export function readAsk({ method, target, rawHeaders }: AskHead, body: string | Uint8Array | null): AskMeaning {
  const upgrade = headerOf(rawHeaders, 'upgrade')
  if (upgrade !== null && /\bwebsocket\b/i.test(upgrade)) return bare('websocket', target, rawHeaders)
  if (method === 'GET' && /\btext\/event-stream\b/i.test(headerOf(rawHeaders, 'accept') ?? '')) return bare('get_sse', target, rawHeaders)
  if (method !== 'POST') return bare('other', target, rawHeaders)

  const told = headersTell(rawHeaders, method) ? requestOfHeaders(rawHeaders) : null
  const envelope = body === null ? null : readEnvelope(body)
  if (envelope === null) {
    if (told === null) return bare('other', target, rawHeaders)
    if (told.method.startsWith('notifications/')) {
      return bare('notification', target, rawHeaders, NONE, [{ method: told.method, requestId: null }])
    }
    return bare(told.method === LISTEN ? 'subscription' : 'call', target, rawHeaders, [told])
  }
  const requests = firstOf(envelope.requests)
  const [only] = requests
  const revision = headerOf(rawHeaders, 'mcp-protocol-version') ?? envelope.revision
  return {
    kind: kindOf(requests, envelope.isMessage),
    // Headers and body that differ are refused by a server of 2026-07-28; its headers decide.
    requests: told !== null && only !== undefined && requests.length === 1 ? [{ ...only, method: told.method, tool: told.tool }] : requests,
    notifications: firstOf(envelope.notifications),
    revision,
    client: envelope.client ?? productOf(headerOf(rawHeaders, 'user-agent')),
    session: sessionOf(target, rawHeaders),
    mismatch: mismatchOf(rawHeaders, envelope.mirrored, revision),
  }
}

const NONE: readonly never[] = []

/** By the headers alone. */
function bare(
  kind: ExchangeKind,
  target: string,
  rawHeaders: RawHeaders,
  requests: readonly RpcRequest[] = NONE,
  notifications: readonly RpcNotification[] = NONE,
): AskMeaning {
  const revision = headerOf(rawHeaders, 'mcp-protocol-version')
  const client = productOf(headerOf(rawHeaders, 'user-agent'))
  return { kind, requests, notifications, revision, client, session: sessionOf(target, rawHeaders), mismatch: null }
}

const sessionOf = (target: string, rawHeaders: RawHeaders): string | null => headerOf(rawHeaders, 'mcp-session-id') ?? sessionIn(target)

const firstOf = <T>(messages: readonly T[]): readonly T[] => (messages.length > BATCH_MAX ? messages.slice(0, BATCH_MAX) : messages)

/** A header that is absent differs from nothing: the cancellation of the v2 client has no `Mcp-Method`. */
function mismatchOf(rawHeaders: RawHeaders, mirrored: Mirrored | null, revision: string | null): string | null {
  if (mirrored === null || !cancelsByClosing(revision)) return null
  return (
    differing(rawHeaders, 'mcp-method', 'Mcp-Method', mirrored.method) ??
    differing(rawHeaders, 'mcp-name', 'Mcp-Name', mirrored.name) ??
    differing(rawHeaders, 'mcp-protocol-version', 'MCP-Protocol-Version', mirrored.revision)
  )
}

function differing(rawHeaders: RawHeaders, name: string, shown: string, body: string | null): string | null {
  const value = body === null ? null : headerOf(rawHeaders, name)
  if (body === null || value === null || value === body) return null
  const says = decodeName(value)
  return says === body ? null : `${shown} says "${brief(says)}", the body "${brief(body)}"`
}

const brief = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)

function kindOf(requests: readonly RpcRequest[], isMessage: boolean): ExchangeKind {
  for (const { method } of requests) if (method === LISTEN) return 'subscription'
  if (requests.length > 0) return 'call'
  return isMessage ? 'notification' : 'other'
}

function requestOfHeaders(rawHeaders: RawHeaders): RpcRequest {
  const method = headerOf(rawHeaders, 'mcp-method') ?? ''
  const name = headerOf(rawHeaders, 'mcp-name')
  return {
    id: '',
    method,
    tool: method === 'tools/call' && name !== null ? decodeName(name) : null,
    progressToken: null,
    traceparent: null,
    paramsHash: null,
    taskId: null,
  }
}

/** `=?base64?…?=` is UTF-8 in base64; anything else stands for itself. */
export function decodeName(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value.trim())?.[1]
  if (encoded === undefined) return value
  try {
    const binary = atob(encoded)
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)))
  } catch {
    return value
  }
}

const productOf = (userAgent: string | null): string | null => (userAgent === null ? null : (/^[^\s/()]+/.exec(userAgent)?.[0] ?? null))

/** The `sessionId` of a 2024-11-05 message address. */
export function sessionIn(target: string): string | null {
  if (!target.includes('=')) return null
  const value = /[?&]session_?id=([^&#]+)/i.exec(target)?.[1]
  if (value === undefined) return null
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
