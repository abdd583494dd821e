/**
 * The benchmark's server: HTTP/1.1 on a bare socket, cheap on purpose, so that the proxy is what is measured.
 * `/rtt` small JSON · `/sse?id=` events at the rate set · `/idle` a ping every 5 s · `/silent?id=` one event, then nothing ·
 * `/bulk?mb=` · `/ctl/…` the client's wishes. With `--report URL` it reports work as OTLP/HTTP JSON while it serves; with `--scrape URL` it
 * plays the Prometheus that watches the proxy.
 */
import type { AddressInfo, Socket } from 'node:net'
import net from 'node:net'
import { createReporter } from './reporter.ts'
import { createScraper } from './scraper.ts'
import { argOf, nowUs, stampedChunk } from './wire-words.ts'

const answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'x'.repeat(228) }] } })
const RTT = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`, 'latin1')
const SSE_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n'
const PING = '6\r\n: pi\n\n\r\n'
const MIB = Buffer.alloc(1 << 20, 0x61)
const IDLE_SLOTS = 50
const BACKLOG_BYTES_MAX = 262_144
const OWED_MAX_US = 200_000

interface Stream {
  readonly socket: Socket
  nextUs: number
}

/** Streams that have one rate: `/sse?group=`, `/ctl/rate?group=`. */
interface Group {
  ratePerSecond: number
  readonly streams: Set<Stream>
}

let emitted = 0
let skipped = 0
const groups = new Map<string, Group>()
let idle: Socket[] = []
let aborts = new Map<string, number>()
const reporter = createReporter(argOf('report', ''))
const scraper = createScraper(argOf('scrape', ''))

function groupOf(asked: URLSearchParams): Group {
  const name = asked.get('group') ?? ''
  const group = groups.get(name) ?? { ratePerSecond: 0, streams: new Set() }
  groups.set(name, group)
  return group
}

setInterval(() => {
  const now = nowUs()
  for (const { ratePerSecond, streams } of groups.values()) {
    if (ratePerSecond > 0) for (const stream of streams) emitDue(stream, ratePerSecond, now)
  }
}, 1)

function emitDue(stream: Stream, ratePerSecond: number, now: number): void {
  stream.nextUs = Math.max(stream.nextUs, now - OWED_MAX_US)
  while (stream.nextUs <= now) {
    stream.nextUs += 1e6 / ratePerSecond
    if (stream.socket.writableLength > BACKLOG_BYTES_MAX) {
      skipped += 1
      continue
    }
    stream.socket.write(stampedChunk(), 'latin1')
    emitted += 1
  }
}

let slot = 0
setInterval(() => {
  slot = (slot + 1) % IDLE_SLOTS
  for (let at = slot; at < idle.length; at += IDLE_SLOTS) idle[at]?.write(PING, 'latin1')
}, 100)

/** With `spread` its streams have their turns one after the other; else those that were due meanwhile are due at once. */
function setRate(group: Group, ratePerSecond: number, isSpread: boolean): void {
  group.ratePerSecond = ratePerSecond
  if (!isSpread || ratePerSecond === 0) return
  const now = nowUs()
  for (const stream of group.streams) stream.nextUs = now + (Math.random() * 1e6) / ratePerSecond
}

function openStream(socket: Socket, { ratePerSecond, streams }: Group, id: string | null): void {
  const stream: Stream = { socket, nextUs: nowUs() + Math.random() * (ratePerSecond === 0 ? 5_000 : 1e6 / ratePerSecond) }
  socket.write(SSE_HEAD + stampedChunk(), 'latin1')
  streams.add(stream)
  socket.on('close', () => {
    streams.delete(stream)
    if (id !== null) aborts.set(id, nowUs())
  })
}

function openSilent(socket: Socket, id: string | null): void {
  socket.write(SSE_HEAD, 'latin1')
  setTimeout(() => socket.destroyed || socket.write(stampedChunk(), 'latin1'), 20 + Math.random() * 500) // sooner than any limit measured, which its last byte is to begin
  if (id !== null) socket.on('close', () => aborts.set(id, nowUs()))
}

function sendBulk(socket: Socket, mib: number): void {
  socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: ${mib << 20}\r\n\r\n`)
  let left = mib
  const go = (): void => {
    while (left > 0) {
      left -= 1
      if (!socket.write(MIB)) {
        socket.once('drain', go)
        return
      }
    }
  }
  go()
}

function sendJson(socket: Socket, value: unknown): void {
  const body = JSON.stringify(value)
  socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

function reset(): void {
  aborts = new Map()
  for (const { streams } of groups.values()) for (const { socket } of streams) socket.destroy()
  for (const socket of idle) socket.destroy()
  idle = []
  for (const group of groups.values()) group.ratePerSecond = 0
}

function serve(socket: Socket, target: string): void {
  if (target === '/rtt') {
    socket.write(RTT)
    return
  }
  const { pathname, searchParams: asked } = new URL(target, 'http://x')
  switch (pathname) {
    case '/sse':
      return openStream(socket, groupOf(asked), asked.get('id'))
    case '/silent':
      return openSilent(socket, asked.get('id'))
    case '/idle':
      socket.write(SSE_HEAD + PING, 'latin1')
      idle.push(socket)
      return
    case '/bulk':
      return sendBulk(socket, Number(asked.get('mb')))
    case '/ctl/rate':
      setRate(groupOf(asked), Number(asked.get('r')), asked.has('spread'))
      return sendJson(socket, {})
    case '/ctl/stats':
      return sendJson(socket, {
        emitted,
        skipped,
        idle: idle.filter(({ destroyed }) => !destroyed).length,
        reports: reporter.sent(),
        scrapes: scraper.scrapes(),
      })
    case '/ctl/aborts':
      return sendJson(socket, Object.fromEntries(aborts))
    case '/ctl/reset':
      reset()
      return sendJson(socket, {})
    default:
      socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
  }
}

/** Where the first request in `text` ends, or -1 where it is not whole. */
function requestEnd(text: string, headEnd: number): number {
  const head = text.slice(0, headEnd)
  const length = /\r\ncontent-length:\s*(\d+)/i.exec(head)?.[1]
  if (length !== undefined) {
    const end = headEnd + 4 + Number(length)
    return text.length < end ? -1 : end
  }
  if (!/\r\ntransfer-encoding: chunked/i.test(head)) return headEnd + 4
  const last = text.indexOf('0\r\n\r\n', headEnd + 4)
  return last < 0 ? -1 : last + 5
}

const server = net.createServer({ noDelay: true }, (socket) => {
  let text = ''
  socket.on('error', () => undefined)
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1')
    for (let headEnd = text.indexOf('\r\n\r\n'); headEnd >= 0; headEnd = text.indexOf('\r\n\r\n')) {
      const end = requestEnd(text, headEnd)
      if (end < 0) return
      const head = text.slice(0, headEnd)
      text = text.slice(end)
      reporter.saw(head)
      serve(socket, head.split(' ', 2)[1] ?? '')
    }
  })
})
server.listen({ port: Number(argOf('port', '0')), host: '127.0.0.1', backlog: 4_096 }, () => {
  console.log(`ready ${(server.address() as AddressInfo).port}`)
})
