/** The head of an answer, and its trailers, read byte by byte as they come: RFC 9112 by the letter, as strict as Node's own parser. */
import { CONTENT_LENGTH, kindOf, TRANSFER_ENCODING, takeNote } from './framing-fields.ts'
import type { AnswerHead } from './head-state.ts'
import {
  AFTER_STATUS,
  BLANK_LINES,
  DONE,
  FIELD,
  FIELD_LF,
  FIELD_VALUE,
  FIRST_FIELD,
  isWithinLimit,
  keepPart,
  LAST_LF,
  NAME,
  NEXT_FIELD,
  PLAIN,
  REASON,
  refuse,
  STATUS_LINE,
  takeToken,
  VALUE_BLANKS,
} from './head-state.ts'
import { problems } from './parse-problem.ts'
import { endStatus, readReason, readStatusLine, skipBlankLines } from './status-line.ts'
import { COLON, CR, LF, SP, TAB, TOKEN, VALUE } from './wire-bytes.ts'

/** What follows the last chunk: fields, and nothing before them. */
export function beginTrailers(head: AnswerHead): void {
  head.phase = FIELD
  head.tokenBytes = 0
  head.rawHeaders = []
}

export const isHeadRead = ({ phase }: AnswerHead): boolean => phase === DONE

/** Latin1 text; gives how much of it belongs to the head, -1 where `problem` says why it is none. */
export function readHead(head: AnswerHead, text: string): number {
  let at = 0
  while (at !== -1 && at < text.length && head.phase !== DONE) at = step(head, text, at)
  return at
}

function step(head: AnswerHead, text: string, at: number): number {
  switch (head.phase) {
    case NAME:
      return readName(head, text, at)
    case VALUE_BLANKS:
      return skipBlanks(head, text, at)
    case FIELD_VALUE:
      return readValue(head, text, at)
    case FIELD_LF:
      return readLf(head, text, at, NEXT_FIELD)
    case FIRST_FIELD:
    case FIELD:
    case NEXT_FIELD:
      return startField(head, text, at)
    case LAST_LF:
      return readLf(head, text, at, DONE)
    case BLANK_LINES:
      return skipBlankLines(head, text, at)
    case STATUS_LINE:
      return readStatusLine(head, text, at)
    case AFTER_STATUS:
      return endStatus(head, text, at)
    case REASON:
      return readReason(head, text, at)
    default:
      return readLf(head, text, at, FIRST_FIELD)
  }
}

function readLf(head: AnswerHead, text: string, at: number, next: number): number {
  if (text.charCodeAt(at) !== LF) return refuse(head, problems.lfExpected)
  head.phase = next
  return at + 1
}

function startField(head: AnswerHead, text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code === SP && head.phase === FIRST_FIELD) return refuse(head, problems.spaceAfterLine)
  if (code === CR) {
    head.phase = LAST_LF
    return at + 1
  }
  if (TOKEN[code] !== 1) return refuse(head, code === SP || code === TAB ? problems.folded : problems.token)
  head.phase = NAME
  return at
}

function readName(head: AnswerHead, text: string, from: number): number {
  let at = from
  while (at < text.length && TOKEN[text.charCodeAt(at)] === 1) at += 1
  if (!isWithinLimit(head, at - from)) return -1
  if (at === text.length) return keepPart(head, text, from)
  if (text.charCodeAt(at) !== COLON) return refuse(head, problems.token)
  const name = takeToken(head, text, from, at)
  head.rawHeaders.push(name)
  head.kind = kindOf(name)
  if (head.kind === CONTENT_LENGTH && head.hasTransferCoding) return refuse(head, problems.lengthWithCoding)
  if (head.kind === TRANSFER_ENCODING && head.contentLength !== null) return refuse(head, problems.codingWithLength)
  head.phase = VALUE_BLANKS
  return at + 1
}

function skipBlanks(head: AnswerHead, text: string, from: number): number {
  let at = from
  while (at < text.length && (text.charCodeAt(at) === SP || text.charCodeAt(at) === TAB)) at += 1
  if (at < text.length) head.phase = FIELD_VALUE
  return at
}

function readValue(head: AnswerHead, text: string, from: number): number {
  let at = from
  while (at < text.length && VALUE[text.charCodeAt(at)] === 1) at += 1
  if (!isWithinLimit(head, at - from)) return -1
  if (at === text.length) return keepPart(head, text, from)
  const code = text.charCodeAt(at)
  if (code !== CR) return refuse(head, code === LF ? problems.crExpected : problems.value)
  const value = withoutBlanksBehind(takeToken(head, text, from, at))
  head.rawHeaders.push(value)
  if (head.kind !== PLAIN) {
    const problem = takeNote(head, value)
    if (problem !== null) return refuse(head, problem)
  }
  const isLineWhole = text.charCodeAt(at + 1) === LF
  head.phase = isLineWhole ? NEXT_FIELD : FIELD_LF
  return isLineWhole ? at + 2 : at + 1
}

function withoutBlanksBehind(value: string): string {
  let end = value.length
  while (end > 0 && (value.charCodeAt(end - 1) === SP || value.charCodeAt(end - 1) === TAB)) end -= 1
  return end === value.length ? value : value.slice(0, end)
}
