/** A request's JSON body as JSON-RPC: the one place that knows where a message keeps its id, its tool and its `_meta`. */
import type { RpcNotification, RpcRequest } from './ask.ts'
import { writtenOf } from './json-text.ts'
import type { Found } from './raw-json.ts'
import { findIn, idOf, isObject, isThere, shapeOf, slotOf, stringOf } from './raw-json.ts'

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

const SHAPE = shapeOf(WANTED, 'params')
const [ID, METHOD, PARAMS] = [slotOf(SHAPE, 'id'), slotOf(SHAPE, 'method'), slotOf(SHAPE, 'params')]
const [RESULT, ERROR] = [slotOf(SHAPE, 'result'), slotOf(SHAPE, 'error')]
const ofParams = (...names: readonly string[]): number => slotOf(SHAPE, 'params', ...names)
const [NAME, URI, TASK_ID, REQUEST_ID] = [ofParams('name'), ofParams('uri'), ofParams('taskId'), ofParams('requestId')]
const [INIT_REVISION, INIT_CLIENT] = [ofParams('protocolVersion'), ofParams('clientInfo', 'name')]
const [TOKEN, TRACEPARENT] = [ofParams('_meta', 'progressToken'), ofParams('_meta', 'traceparent')]
const [REVISION, CLIENT] = [ofParams('_meta', META_REVISION), ofParams('_meta', META_CLIENT, 'name')]

/** Null where the body is not JSON. */
export function readEnvelope(body: string | Uint8Array): Envelope | null {
  const { bytes, length } = typeof body === 'string' ? writtenOf(body) : { bytes: body, length: body.length }
  const found = findIn(bytes, length, SHAPE)
  if (found === null) return null
  const envelope: Writable = { requests: [], notifications: [], revision: null, client: null, mirrored: null, isMessage: false }
  for (const message of found) readMessage(bytes, message, envelope)
  return envelope
}

interface Writable extends Omit<Envelope, 'requests' | 'notifications'> {
  readonly requests: RpcRequest[]
  readonly notifications: RpcNotification[]
  revision: string | null
  client: string | null
  mirrored: Mirrored | null
  isMessage: boolean
}

function readMessage(bytes: Uint8Array, message: Found, envelope: Writable): void {
  const method = stringOf(bytes, message, METHOD)
  envelope.isMessage ||= method !== null || isThere(message, RESULT) || isThere(message, ERROR)
  if (method === null) return
  const id = idOf(bytes, message, ID)
  const name = stringOf(bytes, message, NAME)
  const taskId = stringOf(bytes, message, TASK_ID)
  const revision = stringOf(bytes, message, REVISION)
  envelope.mirrored ??= { method, name: name ?? stringOf(bytes, message, URI) ?? taskId, revision }
  if (id === null) envelope.notifications.push({ method, requestId: idOf(bytes, message, REQUEST_ID) })
  else {
    envelope.requests.push({
      id,
      method,
      tool: method === 'tools/call' ? name : null,
      progressToken: idOf(bytes, message, TOKEN),
      traceparent: stringOf(bytes, message, TRACEPARENT),
      paramsHash: isObject(bytes, message, PARAMS) ? message.hash : null,
      taskId,
    })
  }
  const isFirst = method === 'initialize'
  envelope.revision ??= revision ?? (isFirst ? stringOf(bytes, message, INIT_REVISION) : null)
  envelope.client ??= stringOf(bytes, message, CLIENT) ?? (isFirst ? stringOf(bytes, message, INIT_CLIENT) : null)
}
