/** What an HTTP request says in MCP's terms: read from its headers and, where they do not tell, from its JSON body. */

export type ExchangeKind = 'call' | 'subscription' | 'notification' | 'get_sse' | 'websocket' | 'other'

/** One JSON-RPC request. Ids and tokens are raw JSON text (`7`, `"a"`, `9007199254740993`), for numbers beyond 2^53 must not be rounded. */
export interface RpcRequest {
  readonly id: string
  readonly method: string
  /** The tool of a `tools/call`, decoded. */
  readonly tool: string | null
  readonly progressToken: string | null
  /** `params._meta.traceparent`, where a client puts it (SEP-414). */
  readonly traceparent: string | null
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
  readonly session: string | null
}
