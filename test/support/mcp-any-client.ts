/** The clients of both SDKs behind one face, so that one conversation can be held with any server through anything. */
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { connectV1Client, connectV2Client } from './mcp-clients.ts'

export type ClientKind = 'v1' | 'v2-legacy' | 'v2-modern'

export interface CallOptions {
  readonly onprogress?: (progress: number) => void
  readonly signal?: AbortSignal
}

export interface AnyClient {
  listTools(): Promise<unknown>
  callTool(name: string, args: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<unknown>
  listResources(): Promise<unknown>
  readResource(uri: string): Promise<unknown>
  listPrompts(): Promise<unknown>
  getPrompt(name: string, args: Record<string, string>): Promise<unknown>
  /** Resolves once the server agreed; `onUpdated` gets the URIs. */
  subscribe(uri: string, onUpdated: (uri: string) => void): Promise<unknown>
}

export async function connectAnyClient(kind: ClientKind, url: URL): Promise<AnyClient> {
  return kind === 'v1' ? await anyV1(url) : await anyV2(url, kind === 'v2-modern')
}

const progressOf = (onprogress: CallOptions['onprogress']) =>
  onprogress === undefined ? {} : { onprogress: ({ progress }: { progress: number }) => onprogress(progress) }
const signalOf = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal })

async function anyV1(url: URL): Promise<AnyClient> {
  const client = await connectV1Client(url)
  return {
    listTools: () => client.listTools(),
    callTool: (name, args, { onprogress, signal } = {}) =>
      client.callTool({ name, arguments: { ...args } }, undefined, { ...progressOf(onprogress), ...signalOf(signal) }),
    listResources: () => client.listResources(),
    readResource: (uri) => client.readResource({ uri }),
    listPrompts: () => client.listPrompts(),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    subscribe(uri, onUpdated) {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => onUpdated(params.uri))
      return client.subscribeResource({ uri })
    },
  }
}

async function anyV2(url: URL, modern: boolean): Promise<AnyClient> {
  const client = await connectV2Client(url, { modern })
  return {
    listTools: () => client.listTools(),
    callTool: (name, args, { onprogress, signal } = {}) =>
      client.callTool({ name, arguments: { ...args } }, { ...progressOf(onprogress), ...signalOf(signal) }),
    listResources: () => client.listResources(),
    readResource: (uri) => client.readResource({ uri }),
    listPrompts: () => client.listPrompts(),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    async subscribe(uri, onUpdated) {
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => onUpdated(params.uri))
      if (!modern) return await client.subscribeResource({ uri })
      const { honoredFilter } = await client.listen({ resourceSubscriptions: [uri] })
      return honoredFilter
    },
  }
}

/** What came of it, as data: the result, or the error in its own words. */
export async function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    return { result: await promise }
  } catch (problem) {
    const { name, message, code } = problem as { name?: string; message?: string; code?: unknown }
    return { error: { name, code: code ?? null, message } }
  }
}
