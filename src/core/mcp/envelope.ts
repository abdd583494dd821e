/** A request's JSON body as JSON-RPC: the one place that knows where a message keeps its id, its tool and its `_meta`. */
import type { RpcNotification, RpcRequest } from './ask.ts'
import type { Found } from './raw-json.ts'
import { bytesOfText, findIn, hashOfMembers, idOf, stringOf } from './raw-json.ts'

export interface Envelope {
  readonly requests: readonly RpcRequest[]
  readonly notifications: readonly RpcNotification[]
  /** `_meta`'s, else what `initialize` asks for. */
  readonly revision: string | null
  readonly client: string | null
  /** What headers mirror of the first message. */
  readonly mirrored: Mirrored | null
  /** Some JSON-RPC message is in it: a request, a notification, or an answer to a server's request. */
  readonly isMessage: boolean
}

/** A message's own word for what its headers say as well; null: it has none. */
export interface Mirrored {
  readonly method: string
  /** The tool, prompt, resource or task. */
  readonly name: string | null
  readonly revision: string | null
}

const META_REVISION = 'io.modelcontextprotocol/protocolVersion'
const META_CLIENT = 'io.modelcontextprotocol/clientInfo'
const WANTED = {
  id: {},
  method: {},
  result: {},
  error: {},
  params: {
    name: {},
    uri: {},
    taskId: {},
    requestId: {},
    protocolVersion: {},
    clientInfo: { name: {} },
    _meta: { progressToken: {}, traceparent: {}, [META_REVISION]: {}, [META_CLIENT]: { name: {} } },
  },
}

/** Null where the body is not JSON. */
export function readEnvelope(body: string | Uint8Array): Envelope | null {
  const bytes = typeof body === 'string' ? bytesOfText(body) : body
  const found = findIn(bytes, WANTED)
  if (found === null) return null
  const requests: RpcRequest[] = []
  const notifications: RpcNotification[] = []
  let revision: string | null = null
  let client: string | null = null
  let mirrored: Mirrored | null = null
  let isMessage = false
  for (const message of found.elements.length > 0 ? found.elements : [found]) {
    const method = stringOf(bytes, message.members.get('method'))
    isMessage ||= method !== null || message.members.has('result') || message.members.has('error')
    if (method === null) continue
    const params = message.members.get('params')
    const meta = params?.members.get('_meta')
    const id = idOf(bytes, message.members.get('id'))
    const name = stringOf(bytes, params?.members.get('name'))
    const taskId = stringOf(bytes, params?.members.get('taskId'))
    mirrored ??= {
      method,
      name: name ?? stringOf(bytes, params?.members.get('uri')) ?? taskId,
      revision: stringOf(bytes, meta?.members.get(META_REVISION)),
    }
    if (id === null) notifications.push({ method, requestId: idOf(bytes, params?.members.get('requestId')) })
    else {
      requests.push({
        id,
        method,
        tool: method === 'tools/call' ? name : null,
        progressToken: idOf(bytes, meta?.members.get('progressToken')),
        traceparent: stringOf(bytes, meta?.members.get('traceparent')),
        paramsHash: params === undefined || bytes[params.start] !== 0x7b ? null : hashOfMembers(bytes, params),
        taskId,
      })
    }
    revision ??= stringOf(bytes, meta?.members.get(META_REVISION)) ?? asked(bytes, method, params, 'protocolVersion')
    client ??= stringOf(bytes, meta?.members.get(META_CLIENT)?.members.get('name')) ?? asked(bytes, method, params, 'clientInfo', 'name')
  }
  return { requests, notifications, revision, client, mirrored, isMessage }
}

/** A string among the parameters of `initialize`. */
function asked(bytes: Uint8Array, method: string, params: Found | undefined, ...names: string[]): string | null {
  if (method !== 'initialize') return null
  return stringOf(
    bytes,
    names.reduce<Found | undefined>((found, name) => found?.members.get(name), params),
  )
}
