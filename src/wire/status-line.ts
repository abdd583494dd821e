/** The first line of an answer: its version, status and reason (RFC 9112 §4). */
import type { AnswerHead } from './head-state.ts'
import { AFTER_STATUS, isWithinLimit, keepPart, LINE_LF, REASON, refuse, STATUS_LINE, takeToken } from './head-state.ts'
import type { ParseProblem } from './parse-problem.ts'
import { problems } from './parse-problem.ts'
import { CR, isDigit, LF, SP } from './wire-bytes.ts'

/** RFC 9112 §2.2 asks a server for this; Node's client does it as well. */
export function skipBlankLines(head: AnswerHead, text: string, from: number): number {
  let at = from
  while (at < text.length && (text.charCodeAt(at) === CR || text.charCodeAt(at) === LF)) at += 1
  if (at < text.length) head.phase = STATUS_LINE
  return at
}

const USUAL_VERSION = 'HTTP/1.1 '
const PROTOCOL = 'HTTP/'
/** `HTTP/1.1 200` */
const TO_REASON = 12

export function readStatusLine(head: AnswerHead, text: string, from: number): number {
  let at = from
  if (head.matched === 0 && text.startsWith(USUAL_VERSION, at)) {
    head.major = 1
    head.minor = 1
    head.matched = USUAL_VERSION.length
    at += USUAL_VERSION.length
  }
  for (; at < text.length && head.matched < TO_REASON; at += 1) {
    const problem = matchNext(head, text.charCodeAt(at))
    if (problem !== null) return refuse(head, problem)
    head.matched += 1
  }
  if (head.matched === TO_REASON) head.phase = AFTER_STATUS
  return at
}

function matchNext(head: AnswerHead, code: number): ParseProblem | null {
  const { matched } = head
  const digit = code - 0x30
  if (matched < PROTOCOL.length) return code === PROTOCOL.charCodeAt(matched) ? null : problems.protocol
  if (matched === 5) {
    head.major = digit
    return isDigit(code) ? null : problems.version
  }
  if (matched === 6) return code === 0x2e ? null : problems.version
  if (matched === 7) {
    head.minor = digit
    return isDigit(code) && isKnownVersion(head.major, digit) ? null : problems.version
  }
  if (matched === 8) return code === SP ? null : problems.version
  head.status = head.status * 10 + digit
  return isDigit(code) ? null : problems.status
}

const isKnownVersion = (major: number, minor: number): boolean =>
  major === 1 ? minor <= 1 : major === 0 ? minor === 9 : major === 2 && minor === 0

export function endStatus(head: AnswerHead, text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code !== SP && code !== CR) return refuse(head, problems.status)
  head.phase = code === SP ? REASON : LINE_LF
  return at + 1
}

/** Any bytes: what cannot be passed on is refused where it is passed on. */
export function readReason(head: AnswerHead, text: string, from: number): number {
  let at = from
  let code = 0
  for (; at < text.length; at += 1) {
    code = text.charCodeAt(at)
    if (code === CR || code === LF) break
  }
  if (!isWithinLimit(head, at - from)) return -1
  if (at === text.length) return keepPart(head, text, from)
  if (code === LF) return refuse(head, problems.crExpected)
  head.reason = takeToken(head, text, from, at)
  head.phase = LINE_LF
  return at + 1
}
