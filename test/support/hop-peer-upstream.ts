/** The scripted server of the peer tests: which script answers is in the request's target, so that all scenarios run at once behind one proxy. */
import type { HeaderList, RawRequest } from './raw-http.ts'
import { chunk, headText, lastChunk } from './raw-http.ts'
import type { RawConnection, RawServer } from './raw-server.ts'
import { rawServer } from './raw-server.ts'

/** What a script can do. Times are ms since its request was read. */
export interface Script {
  /** Waits until then. */
  at(ms: number): Promise<void>
  /** A stream's head: chunked, or to a proxy that asks in HTTP/1.0 delimited by the connection's end. */
  head(headers?: HeaderList): void
  /** Text of the stream that the head began. */
  stream(text: string): void
  /** Bytes as they are. */
  send(text: string): void
  /** The response is whole: the stream's last chunk, and to a proxy that asks in HTTP/1.0 a FIN. */
  over(): void
  fin(): void
  rst(): void
}

/** One request as the server got it. */
export interface Visit {
  readonly request: RawRequest
  readonly connection: RawConnection
  /** How the other side ended the connection, while it was this request's. */
  ended(): { readonly how: 'fin' | 'rst'; readonly atMs: number } | null
}

export interface ScriptedServer {
  readonly server: RawServer
  /** Answers requests for `target` from now on. */
  answer(target: string, script: (script: Script) => Promise<void>): void
  visits(target: string): readonly Visit[]
}

/** A kept connection waits for its next request longer than any test runs. */
const NEXT_REQUEST_MS = 600_000

export async function scriptedServer(): Promise<ScriptedServer> {
  const scripts = new Map<string, (script: Script) => Promise<void>>()
  const visits = new Map<string, Visit[]>()
  const server = await rawServer(async (connection) => {
    let nextAtMs = [Number.POSITIVE_INFINITY] // of the visit before: when the next request came
    for (;;) {
      const request = await connection.request(NEXT_REQUEST_MS).catch(() => null)
      if (request === null || !request.isWhole) return
      nextAtMs[0] = performance.now()
      const overAtMs = [Number.POSITIVE_INFINITY]
      nextAtMs = overAtMs
      const ended = (): ReturnType<Visit['ended']> => {
        const end = connection.ended()
        return end === null || end.atMs > (overAtMs[0] ?? 0) ? null : end
      }
      const known = visits.get(request.target) ?? []
      visits.set(request.target, [...known, { request, connection, ended }])
      await scripts.get(request.target)?.(scriptOn(connection, request))
    }
  })
  return {
    server,
    answer: (target, script) => void scripts.set(target, script),
    visits: (target) => visits.get(target) ?? [],
  }
}

function scriptOn(connection: RawConnection, request: RawRequest): Script {
  const startMs = performance.now()
  const isOld = request.startLine.endsWith('HTTP/1.0')
  let isStream = false
  const send = (text: string): void => {
    if (connection.socket.writable) void connection.send(text)
  }
  return {
    at: (ms) => new Promise((resolve) => setTimeout(resolve, startMs + ms - performance.now())),
    head(headers = []) {
      isStream = true
      const framing: HeaderList = isOld ? [] : [['Transfer-Encoding', 'chunked']]
      send(headText(200, [['Content-Type', 'text/event-stream'], ...headers, ...framing]))
    },
    stream: (text) => send(isOld ? text : chunk(text)),
    send,
    over() {
      if (isStream && !isOld) send(lastChunk)
      if (isOld) connection.fin()
    },
    fin: () => connection.fin(),
    rst: () => {
      if (connection.socket.writable) connection.rst()
    },
  }
}
