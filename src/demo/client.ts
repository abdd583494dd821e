/** The demo's MCP client: the real SDK, 2026-07-28, patient or not. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** What a caller of the SDK had in hand when the story was over. */
export type ClientOutcome =
  | { readonly is: 'result'; readonly text: string }
  | { readonly is: 'left' }
  | { readonly is: 'waiting' }
  | { readonly is: 'error'; readonly says: string }

export interface DemoCall {
  /** As it stands now: the SDK may not have noticed that its stream is gone. */
  outcome(): ClientOutcome
}

export interface DemoClient {
  /** Calls that ask for no work: connections are open and code is warm when the story starts, so that its times are the story's. */
  warmUp(tool: string, calls: number): Promise<void>
  /** Starts the call; `leaveAfterMs`: closes its stream then, as a client with a timeout does. */
  call(tool: string, args: Readonly<Record<string, unknown>>, options: { readonly leaveAfterMs: number | null }): DemoCall
  stop(): Promise<void>
}

/** The SDK's own timeout, out of the story's way. */
const REQUEST_TIMEOUT_MS = 120_000

/** `name` is what records say of the client. */
export async function connectDemoClient(origin: URL, name: string): Promise<DemoClient> {
  const client = new Client({ name, version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', origin)))
  return {
    async warmUp(tool, calls) {
      await Promise.all(Array.from({ length: calls }, () => client.callTool({ name: tool, arguments: { workMs: 0 } })))
    },
    call(tool, args, { leaveAfterMs }) {
      const leaving = new AbortController()
      let outcome: ClientOutcome = { is: 'waiting' }
      const timer = leaveAfterMs === null ? null : setTimeout(() => leaving.abort(), leaveAfterMs)
      client
        .callTool(
          { name: tool, arguments: { ...args } },
          { signal: leaving.signal, timeout: REQUEST_TIMEOUT_MS, onprogress: () => undefined },
        )
        .then(({ content }) => {
          outcome = { is: 'result', text: content.map((part) => (part.type === 'text' ? part.text : part.type)).join(' ') }
        })
        .catch((problem: unknown) => {
          outcome = leaving.signal.aborted ? { is: 'left' } : { is: 'error', says: String(problem) }
        })
        .finally(() => clearTimeout(timer ?? undefined))
      return { outcome: () => outcome }
    },
    stop: () => client.close(),
  }
}
