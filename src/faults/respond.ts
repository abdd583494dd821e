/** Answers in the server's place; the server is never asked. */
import { z } from 'zod'
import type { Answer } from '../core/answer.ts'
import { sendAnswer } from '../core/answer.ts'
import type { SeatPlan } from '../core/seat.ts'
import { lost } from '../core/signal.ts'
import { strict } from '../hops/shape.ts'
import { fired } from './body-shape.ts'
import { causeOf, faultKind, seat } from './fault.ts'
import { headerValues, rawHeadersOf, statusCode } from './fault-values.ts'

export function respond(name: string, answer: Answer): SeatPlan {
  const cause = causeOf(name)
  return {
    name,
    sit: (out) => ({
      fromClient(signal) {
        if (signal.is !== 'request') return out.toServer(signal)
        if (!out.mayCut(cause)) {
          out.note({ is: 'decided', what: 'capped' })
          out.leave()
          return out.toServer(signal)
        }
        fired(out)
        sendAnswer(out, answer, cause)
        out.toServer(lost('fin', cause))
      },
    }),
  }
}

const HAS_NO_BODY: readonly number[] = [204, 205, 304]

const schema = strict({
  status: statusCode,
  headers: headerValues.optional(),
  body: z.string().optional().describe('html, json, none, or the text itself'),
}).refine(({ status, body = 'none' }) => body === 'none' || !HAS_NO_BODY.includes(status), {
  path: ['body'],
  error: 'this status has no body: leave it out',
})

function answerOf({ status, headers = {}, body = 'none' }: z.output<typeof schema>): Answer {
  const { contentType, text } = bodyOf(body, status)
  const hasType = Object.keys(headers).some((header) => header.toLowerCase() === 'content-type')
  return {
    status,
    reason: '',
    rawHeaders: [...rawHeadersOf(headers), ...(contentType === null || hasType ? [] : ['Content-Type', contentType])],
    body: text,
  }
}

function bodyOf(body: string, status: number): { readonly contentType: string | null; readonly text: string } {
  if (body === 'none') return { contentType: null, text: '' }
  if (body === 'html') {
    return {
      contentType: 'text/html',
      text: `<html>\r\n<head><title>${status}</title></head>\r\n<body>\r\n<center><h1>${status}</h1></center>\r\n</body>\r\n</html>\r\n`,
    }
  }
  if (body !== 'json') return { contentType: 'text/plain; charset=utf-8', text: body }
  return {
    contentType: 'application/json',
    text: JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: `HTTP ${status}` } }),
  }
}

export const respondFault = faultKind({
  key: 'respond',
  docs: "Answers in the server's place, which is never asked: `status`, `headers`, and html, json, none or a text as `body`.",
  at: 'server',
  schema,
  deed: (name, asked) => seat(respond(name, answerOf(asked))),
})
