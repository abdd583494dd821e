/** The fields that say how a message is framed and whether its connection stays: the rest is passed on unread. */
import type { AnswerHead } from './head-state.ts'
import { PLAIN } from './head-state.ts'
import type { ParseProblem } from './parse-problem.ts'
import { problems } from './parse-problem.ts'

const CONNECTION = 1
export const CONTENT_LENGTH = 2
export const TRANSFER_ENCODING = 3

/** By length first: few names need to be put in lower case. Node minds `Proxy-Connection` as well. */
export function kindOf(name: string): number {
  switch (name.length) {
    case 10:
      return name.toLowerCase() === 'connection' ? CONNECTION : PLAIN
    case 14:
      return name.toLowerCase() === 'content-length' ? CONTENT_LENGTH : PLAIN
    case 16:
      return name.toLowerCase() === 'proxy-connection' ? CONNECTION : PLAIN
    case 17:
      return name.toLowerCase() === 'transfer-encoding' ? TRANSFER_ENCODING : PLAIN
    default:
      return PLAIN
  }
}

export function takeNote(head: AnswerHead, value: string): ParseProblem | null {
  if (head.kind === CONNECTION) {
    for (const option of value.toLowerCase().split(',')) {
      const word = option.trim()
      if (word === 'close') head.saysClose = true
      else if (word === 'keep-alive') head.saysKeepAlive = true
    }
    return null
  }
  if (head.kind === CONTENT_LENGTH) return takeLength(head, value)
  if (value === '') return problems.noCoding
  head.hasTransferCoding = true
  head.isChunked = /(?:^|,)[\t ]*chunked$/i.test(value) // of several fields the last counts: its last coding is the body's
  return null
}

const LENGTH_MAX = 2n ** 64n - 1n

function takeLength(head: AnswerHead, value: string): ParseProblem | null {
  if (head.contentLength !== null) return problems.lengthTwice
  if (!/^\d+$/.test(value)) return problems.length
  if (value.length > 19 && BigInt(value) > LENGTH_MAX) return problems.length
  head.contentLength = Number(value)
  return null
}
