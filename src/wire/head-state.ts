/** What is known of a head while it is read, and how a token is put together that the end of a read cut. */
import type { ParseProblem } from './parse-problem.ts'
import { problems } from './parse-problem.ts'

/** Of all names, values and the reason together: what separates them is not counted, and not kept. */
const HEAD_BYTES_MAX = 65_536

export const BLANK_LINES = 0
export const STATUS_LINE = 1
export const AFTER_STATUS = 2
export const REASON = 3
export const LINE_LF = 4
export const FIRST_FIELD = 5
export const FIELD = 6
export const NAME = 7
export const VALUE_BLANKS = 8
export const FIELD_VALUE = 9
export const FIELD_LF = 10
export const NEXT_FIELD = 11
export const LAST_LF = 12
export const DONE = 13

/** A field without a meaning of its own here. */
export const PLAIN = 0

export interface AnswerHead {
  phase: number
  /** The beginning of a token that the end of a read cut. */
  part: string
  tokenBytes: number
  /** How much of the status line up to the reason is there. */
  matched: number
  major: number
  minor: number
  status: number
  reason: string
  rawHeaders: string[]
  kind: number
  /** Null: none was given. */
  contentLength: number | null
  hasTransferCoding: boolean
  isChunked: boolean
  saysClose: boolean
  saysKeepAlive: boolean
  problem: ParseProblem | null
}

export const createHead = (): AnswerHead => ({
  phase: BLANK_LINES,
  part: '',
  tokenBytes: 0,
  matched: 0,
  major: 0,
  minor: 0,
  status: 0,
  reason: '',
  rawHeaders: [],
  kind: PLAIN,
  contentLength: null,
  hasTransferCoding: false,
  isChunked: false,
  saysClose: false,
  saysKeepAlive: false,
  problem: null,
})

export function beginHead(head: AnswerHead): void {
  head.phase = BLANK_LINES
  head.part = ''
  head.tokenBytes = 0
  head.matched = 0
  head.status = 0
  head.reason = ''
  head.rawHeaders = []
  head.contentLength = null
  head.hasTransferCoding = false
  head.isChunked = false
  head.saysClose = false
  head.saysKeepAlive = false
  head.problem = null
}

export function refuse(head: AnswerHead, problem: ParseProblem): -1 {
  head.problem = problem
  return -1
}

export function isWithinLimit(head: AnswerHead, bytes: number): boolean {
  head.tokenBytes += bytes
  if (head.tokenBytes < HEAD_BYTES_MAX) return true
  head.problem = problems.headTooLong
  return false
}

export function keepPart(head: AnswerHead, text: string, from: number): number {
  head.part += text.slice(from)
  return text.length
}

export function takeToken(head: AnswerHead, text: string, from: number, to: number): string {
  const token = text.slice(from, to)
  if (head.part === '') return token
  const whole = head.part + token
  head.part = ''
  return whole
}
