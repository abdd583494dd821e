/** One scenario played on one side, a real proxy or our preset: what its client and its server saw, as plain values. */
import { constants, gunzipSync } from 'node:zlib'
import type { ClientAct, Scenario } from './hop-peer-scenarios.ts'
import { EVENTS_MAX, eventMark } from './hop-peer-scenarios.ts'
import type { ScriptedServer } from './hop-peer-upstream.ts'
import { rawClient } from './raw-client.ts'
import type { Framing, HeaderList, RawMessage } from './raw-http.ts'
import { readMessage, requestText } from './raw-http.ts'
import type { RawSocket } from './raw-socket.ts'

/** Times are ms since the client had sent its request; null: it did not happen while it was watched. */
export interface Seen {
  /** What the client got; null: not even a head. */
  readonly answer: null | {
    readonly status: number
    readonly reason: string
    readonly contentType: string | null
    readonly framing: Framing
    /** Decoded, also from gzip. */
    readonly body: string
    readonly isWhole: boolean
    /** Honoured headers are not passed on. */
    readonly passesAccel: boolean
  }
  readonly headMs: number | null
  readonly wholeMs: number | null
  /** Per event, by its number (0: the result), when it had arrived. */
  readonly events: ReadonlyMap<number, number>
  /** How the client's connection ended from the other side; `open`: it did not, `left`: the client went first. */
  readonly ending: 'fin' | 'rst' | 'open' | 'left'
  readonly endedMs: number | null
  /** How often the server was asked. */
  readonly asked: number
  /** How the server's connection ended from the other side. */
  readonly serverEnding: 'fin' | 'rst' | 'open'
  readonly serverEndedMs: number | null
}

export interface PlayedSide {
  readonly port: number
  readonly server: ScriptedServer
  readonly headers: HeaderList
}

/** `turn` makes the target one of its own, so that a second look is not mistaken for the first. */
export async function play({ port, server, headers }: PlayedSide, scenario: Scenario, turn: number): Promise<Seen> {
  const target = `${scenario.prefix ?? ''}/${scenario.name.replace(/\W+/g, '-')}/${turn}`
  server.answer(target, (script) => scenario.server(script))
  const client = await rawClient(port)
  const startMs = performance.now()
  await client.send(requestText('POST', target, [['Content-Type', 'application/json'], ...headers], '{"jsonrpc":"2.0"}'))
  let isLeft = false
  const leave = (act: ClientAct): void => {
    if (act === 'half') return client.fin()
    isLeft = client.ended() === null
    if (act === 'rst') client.rst()
    else client.close()
  }
  const { client: leaving } = scenario
  if (leaving !== undefined) setTimeout(() => leave(leaving.act), leaving.atMs)
  await new Promise((resolve) => setTimeout(resolve, scenario.watchMs))
  const seen = { ...clientSaw(client, startMs, isLeft), ...serverSaw(server, target, startMs) }
  client.close()
  return seen
}

function serverSaw(server: ScriptedServer, target: string, startMs: number): Pick<Seen, 'asked' | 'serverEnding' | 'serverEndedMs'> {
  const visits = server.visits(target)
  const ended = visits[0]?.ended() ?? null
  return { asked: visits.length, serverEnding: ended?.how ?? 'open', serverEndedMs: ended === null ? null : ended.atMs - startMs }
}

function clientSaw(client: RawSocket, startMs: number, isLeft: boolean): Omit<Seen, 'asked' | 'serverEnding' | 'serverEndedMs'> {
  const ended = client.ended()
  const came = client.pieces.map(({ atMs }, index) => ({
    ms: atMs - startMs,
    message: readSoFar(Buffer.concat(client.pieces.slice(0, index + 1).map(({ bytes }) => bytes))),
  }))
  const events = new Map<number, number>()
  for (const { ms, message } of came) {
    const text = message === null ? '' : textOf(message)
    for (let n = 0; n <= EVENTS_MAX; n += 1) if (!events.has(n) && text.includes(eventMark(n))) events.set(n, ms)
  }
  const answer = came.at(-1)?.message ?? null
  const isEof = answer?.framing === 'eof'
  const [, status = '', ...reason] = answer?.startLine.split(' ') ?? []
  return {
    answer: answer && {
      status: Number(status),
      reason: reason.join(' '),
      contentType: answer.header('content-type'),
      framing: answer.framing,
      body: textOf(answer),
      isWhole: isEof ? ended?.how === 'fin' : answer.isWhole,
      passesAccel: answer.header('x-accel-buffering') !== null,
    },
    headMs: came.find(({ message }) => message !== null)?.ms ?? null,
    wholeMs: isEof ? null : (came.find(({ message }) => message?.isWhole === true)?.ms ?? null),
    events,
    ending: ended?.how ?? (isLeft ? 'left' : 'open'),
    endedMs: ended === null ? null : ended.atMs - startMs,
  }
}

const readSoFar = (bytes: Buffer): RawMessage | null => readMessage(bytes, { of: 'response', isOver: true })?.message ?? null

/** What a client would have unpacked of it by now. */
function textOf(message: RawMessage): string {
  if (message.header('content-encoding') !== 'gzip') return message.text
  if (message.body.length === 0) return ''
  return gunzipSync(message.body, { finishFlush: constants.Z_SYNC_FLUSH }).toString('utf8')
}
