/** A hop's file: every field, what it means, and so its JSON Schema. Presets and `with:` are read by it alike. */
import { z } from 'zod'
import { count, duration, durationOrNone, oneOf, show, size, sizeOrNone, strict } from './shape.ts'

const confidence = oneOf('measured', 'documented', 'reported').meta({
  description: 'measured on the real program, documented by its maker, or reported by its users',
})
const because = { confidence: confidence.optional() }

const text = (what: string) => z.string({ error: ({ input }) => `expected ${what} as text, got ${show(input)}` })
const expected = (what: string) => ({ error: ({ input }: { input?: unknown }) => `expected ${what}, got ${show(input)}` })
const flag = z.boolean({ error: ({ input }) => `expected true or false, got ${show(input)}` })
const switchedOff = oneOf('none')
const orNone = <Schema extends z.ZodType>(schema: Schema, what: string) => z.union([switchedOff, schema], expected(`none or ${what}`))

const headerValue = z
  .union([z.string(), z.number()], expected('a header value'))
  .transform(String)
  .meta({ description: 'A header value; a number is written as it is' })
const answerFields = strict({
  status: z
    .int(expected('a status from 200 to 599'))
    .min(200, expected('a status from 200 to 599'))
    .max(599, expected('a status from 200 to 599')),
  reason: text('a reason phrase').meta({ description: "The status line's words; else the usual ones" }).optional(),
  contentType: text('a content type').optional(),
  body: text('a body').meta({ description: 'Else one line that says who gave up; "" is an empty body' }).optional(),
  headers: z
    .record(
      z.string(),
      z.union([headerValue, z.array(headerValue)], expected('a header value or a list of them')),
      expected('headers as NAME: VALUE'),
    )
    .optional(),
  connection: oneOf('keep', 'close').meta({ description: "Whether the client's connection outlives the answer (default keep)" }).optional(),
})
const answer = orNone(answerFields.partial(), 'an answer with a status').meta({
  description: 'What the client gets while this hop has received no head (504 unless said otherwise); none: a bare close',
})

const writes = strict({ afterWrites: count(1, 'writes') })
const upstream = z
  .union([oneOf('fin', 'rst', 'none'), writes], expected('fin, rst, none or { afterWrites: 1 }'))
  .meta({ description: 'How the server is told of the cut: fin, rst, none (never), or after so many of its writes (default fin)' })
const ending = oneOf('fin', 'rst', 'clean', 'silent').meta({
  description: 'How a response under way ends for the client; silent: dropped without a word, the next packet meets a reset (default fin)',
})
const after = durationOrNone.meta({ description: 'A duration, or none: off by default, though its manners are known' })

const limitShape = {
  after: after.optional(),
  answer: answer.optional(),
  ending: ending.optional(),
  upstream: upstream.optional(),
  ...because,
}
const connect = strict({ after: after.optional(), answer: answer.optional(), ...because })
const headers = strict(limitShape).meta({ description: 'The wait for the response head, from the last byte of the request' })
const idle = strict({
  ...limitShape,
  counts: oneOf('bytes', 'events', 'progress').meta({ description: 'What counts as traffic (default bytes)' }).optional(),
  direction: oneOf('response', 'both').meta({ description: 'Whose traffic counts (default response)' }).optional(),
  rearm: duration
    .meta({ description: 'Traffic sooner than this after the last arming does not re-arm the timer (default 0ms)' })
    .optional(),
}).meta({ description: 'Silence, and where a hop has no `headers` the wait for the head too' })
const total = strict({
  ...limitShape,
  from: oneOf('request', 'headers')
    .meta({ description: "Since the request's last byte, or the response's head (default request)" })
    .optional(),
  at: oneOf('deadline', 'next-write')
    .meta({ description: 'Cut at once when due, or at the next write after (default deadline)' })
    .optional(),
}).meta({ description: 'How long the whole answer may take' })
const clientSend = strict({ after: after.optional(), ending: ending.optional(), upstream: upstream.optional(), ...because }).meta({
  description: 'The client does not read; limits on silence stand still meanwhile',
})

const atCut = oneOf('flush', 'headers', 'answer').meta({ description: 'What becomes of what is held at a cut (default flush)' })
const buffering = strict({
  mode: oneOf('none', 'bytes', 'time', 'full', 'one-behind', 'gzip').optional(),
  size: size.meta({ description: 'mode bytes: the page that goes when it is full' }).optional(),
  every: duration.meta({ description: 'mode time: how long after the first held byte all goes' }).optional(),
  gzip: oneOf('held', 'flushed', 'head-then-held').meta({ description: 'mode gzip: when its output goes (default held)' }).optional(),
  holdHeaders: z.union([flag, oneOf('sized')], expected('true, false or sized')).optional(),
  atCut: atCut.optional(),
  sized: strict({
    size: size.meta({ description: 'The page that goes when it is full (default 4KiB)' }).optional(),
    atCut: atCut.optional(),
  })
    .meta({ description: 'A body of a promised length is held in pages instead, whatever the mode' })
    .optional(),
  honours: z
    .array(text('a header name'), expected('a list of header names'))
    .transform((names) => names.map((name) => name.toLowerCase()))
    .meta({ description: 'Headers whose value `no` switches buffering off', examples: [['x-accel-buffering']] })
    .optional(),
  ...because,
})

const leaving = z.union([oneOf('at-once', 'never'), writes], expected('at-once, never or { afterWrites: 2 }'))
const abort = strict({
  midStream: leaving.optional(),
  beforeHeaders: leaving.optional(),
  halfClose: oneOf('abort', 'tolerate', 'forward').optional(),
  upstream: oneOf('fin', 'rst').optional(),
  ...because,
})
const truncation = oneOf('truncate', 'clean')
const upstreamLoss = strict({
  refused: answer.optional(),
  beforeHeaders: answer.optional(),
  midStream: z
    .union(
      [truncation, strict({ fin: truncation.optional(), rst: truncation.optional() })],
      expected('truncate, clean or { fin: clean, rst: truncate }'),
    )
    .transform((manner) => (typeof manner === 'string' ? { fin: manner, rst: manner } : manner))
    .optional(),
  ...because,
})
const retry = strict({ on: z.array(oneOf('timeout', 'loss'), expected('a list of timeout, loss')), tries: count(1, 'tries', 100) })
const request = strict({
  buffer: flag.meta({ description: 'Collected whole before it is passed on (default false)' }).optional(),
  bodyMax: sizeOrNone.meta({ description: 'A longer body is answered 413 (default none)' }).optional(),
  retry: orNone(retry, '{ on: [timeout, loss], tries: 3 }').optional(),
  ...because,
})

/** A hop's fields, all optional: a preset's file, or what `with:` changes. Durations come out in ms, sizes in bytes. */
export const hopSchema = strict({
  title: text('a title').optional(),
  connect: orNone(connect, '{ after: 60s }').optional(),
  headers: orNone(headers, '{ after: 60s }').optional(),
  idle: orNone(idle, '{ after: 60s }').optional(),
  total: orNone(total, '{ after: 5m }').optional(),
  clientSend: orNone(clientSend, '{ after: 60s }').optional(),
  buffering: orNone(buffering, '{ mode: full }').optional(),
  clientAbort: orNone(abort, '{ midStream: at-once }').optional(),
  upstreamLoss: orNone(upstreamLoss, '{ midStream: truncate }').optional(),
  request: orNone(request, '{ buffer: true }').optional(),
  source: z.array(text('a source'), expected('a list of sources')).optional(),
  checked: z
    .string(expected('a date such as 2026-11-29'))
    .regex(/^\d{4}-\d{2}-\d{2}$/, expected('a date such as 2026-11-29'))
    .optional(),
  ...because,
}).meta({ title: 'A hop', description: 'A proxy, balancer or client library in the path, with its limits and manners' })

/** A hop's file as read. */
export type HopFile = z.output<typeof hopSchema>
export type AnswerFile = z.output<typeof answer>
