/** The real MCP clients of both SDKs, connected; each closes by itself when the current test is over. */
import { Client as V2Client, StreamableHTTPClientTransport as V2Transport } from '@modelcontextprotocol/client'
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { whenTestEnds } from './raw-socket.ts'

export interface ClientOptions {
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
}

export async function connectV1Client(url: URL, { headers = {} }: ClientOptions = {}): Promise<V1Client> {
  const client = new V1Client({ name: 'v1-test-client', version: '1.0.0' })
  await client.connect(new V1Transport(url, { requestInit: { headers } }) as Transport)
  whenTestEnds(() => client.close())
  return client
}

/** `modern`: 2026-07-28, pinned; else 2025-11-25, as the SDK does by default. */
export async function connectV2Client(
  url: URL,
  { modern = true, headers = {} }: ClientOptions & { readonly modern?: boolean } = {},
): Promise<V2Client> {
  const options = modern ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {}
  const client = new V2Client({ name: 'v2-test-client', version: '1.0.0' }, options)
  await client.connect(new V2Transport(url, { requestInit: { headers } }))
  whenTestEnds(() => client.close())
  return client
}
