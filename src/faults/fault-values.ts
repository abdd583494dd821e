/** The values in a fault's form. They stay as written, to be shown and compared; `msOf` and `bytesOfSize` read them. */
import { z } from 'zod'
import type { Answer } from '../core/answer.ts'
import { assert } from '../core/assert.ts'
import { parseDuration, parseSize } from '../core/units.ts'
import { duration, oneOf, show, size, strict } from '../hops/shape.ts'

const complaintOf = (schema: z.ZodType, input: unknown): string => schema.safeParse(input).error?.issues[0]?.message ?? 'invalid'

export const durationText = z
  .string({ error: ({ input }) => complaintOf(duration, input) })
  .refine((text) => parseDuration(text) !== null, { abort: true, error: ({ input }) => complaintOf(duration, input) })
  .meta({ description: 'A duration with its unit: 250ms, 60s, 1m30s, 24h', examples: ['60s'] })

export const sizeText = z
  .union([z.string(), z.number()], { error: ({ input }) => complaintOf(size, input) })
  .refine((value) => parseSize(String(value)) !== null, { abort: true, error: ({ input }) => complaintOf(size, input) })
  .meta({ description: 'A size: 4096B, 4KiB, 1MiB; a bare number is bytes', examples: ['4KiB'] })

/** Milliseconds of a valid duration. */
export function msOf(text: string): number {
  const ms = parseDuration(text)
  assert(ms !== null, 'a schema let a bad duration through')
  return ms
}
export function bytesOfSize(value: string | number): number {
  const bytes = parseSize(String(value))
  assert(bytes !== null, 'a schema let a bad size through')
  return bytes
}

export const ending = oneOf('fin', 'rst', 'clean')
export const upstreamBreak = oneOf('fin', 'rst', 'none')

export const countFrom1 = (what: string) =>
  z
    .int({ error: ({ input }) => `expected ${what} from 1, got ${show(input)}` })
    .min(1, { error: ({ input }) => `expected ${what} from 1, got ${show(input)}` })
export const nth = countFrom1('a number such as 2').describe('Only the n-th; without it every one')

export const statusCode = z
  .int({ error: ({ input }) => `expected a status from 200 to 599, got ${show(input)}` })
  .min(200, { error: ({ input }) => `expected a status from 200 to 599, got ${show(input)}` })
  .max(599, { error: ({ input }) => `expected a status from 200 to 599, got ${show(input)}` })

// Those that frame the message or belong to one connection: another value would make it unreadable.
const FRAMING = ['connection', 'content-length', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade']

export const headerName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: ({ input }) => `expected a header name, got ${show(input)}` })
  .refine((name) => !FRAMING.includes(name.toLowerCase()), {
    error: ({ input }) => `the header ${show(input)} frames the message and cannot be set or removed`,
  })
const headerText = z
  .union([z.string(), z.number()], { error: ({ input }) => `expected a header's value, got ${show(input)}` })
  .refine((value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(String(value)), { error: "a header's value is one line of Latin-1 text" })
export const headerValues = z.record(headerName, headerText, {
  error: (issue) =>
    issue.code === 'invalid_key' ? issue['issues'][0]?.message : `expected header names with values, got ${show(issue.input)}`,
})

export const rawHeadersOf = (headers: Readonly<Record<string, string | number>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) => [name, String(value)])

/** The answer of a timer that fires before any head has passed. */
export const answerForm = strict({
  status: statusCode,
  reason: z
    .string()
    .regex(/^[\t\x20-\x7e]*$/, { error: 'a reason is one line of ASCII text' })
    .optional(),
  contentType: z
    .string()
    .regex(/^[\t\x20-\x7e]+$/, { error: 'a content type is one line of ASCII text' })
    .optional(),
  body: z.string().optional(),
  headers: headerValues.optional(),
  connection: oneOf('keep', 'close').optional(),
})
export type AnswerForm = z.output<typeof answerForm>

export function answerOf({ status, reason = '', contentType, body, headers = {}, connection }: AnswerForm): Answer {
  return {
    status,
    reason,
    rawHeaders: [
      ...rawHeadersOf(headers),
      ...(contentType === undefined && body === undefined ? [] : ['Content-Type', contentType ?? 'text/plain; charset=utf-8']),
    ],
    body: body ?? '',
    ...(connection === undefined ? {} : { connection }),
  }
}
