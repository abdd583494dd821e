/** What a hop does, field by field, in plain words: for comparing two and for the page of presets. */
import type { Answer } from '../core/answer.ts'
import { formatDuration, formatSize } from '../core/units.ts'
import type {
  AbortManner,
  Buffering,
  ClientSendLimit,
  Hop,
  IdleLimit,
  Limit,
  RequestManner,
  TotalLimit,
  UpstreamManner,
} from '../hops/hop.ts'

export const FIELDS = ['connect', 'headers', 'idle', 'total', 'clientSend', 'buffering', 'clientAbort', 'upstreamLoss', 'request'] as const
export type Field = (typeof FIELDS)[number]

/** One sentence without its full stop. Two hops that do the same have the same words. */
export function mannerOf(hop: Hop, field: Field): string {
  switch (field) {
    case 'connect':
      return hop.connect === undefined
        ? 'no limit of its own on connecting'
        : `gives up connecting after ${formatDuration(hop.connect.afterMs)}: ${answered(hop.connect.answer)}`
    case 'headers':
      return headersInWords(hop)
    case 'idle':
      return hop.idle === undefined ? 'no limit on silence' : idleInWords(hop.idle)
    case 'total':
      return hop.total === undefined ? 'no limit on the whole' : totalInWords(hop.total)
    case 'clientSend':
      return hop.clientSend === undefined ? 'no limit on a client that does not read' : clientSendInWords(hop.clientSend)
    case 'buffering':
      return hop.buffering === undefined ? 'passes all on at once' : bufferingInWords(hop.buffering)
    case 'clientAbort':
      return abortInWords(hop.clientAbort)
    case 'upstreamLoss':
      return lossInWords(hop.upstreamLoss)
    default:
      return hop.request === undefined ? 'passes the request on as it comes' : requestInWords(hop.request)
  }
}

const answered = (answer: Answer | null): string =>
  answer === null ? 'a bare close' : `${answer.status}${answer.reason === '' ? '' : ` ${answer.reason}`}`

function headersInWords({ headers, idle }: Hop): string {
  if (headers === 'none') return 'waits for the headers for ever'
  if (headers !== undefined)
    return `waits ${formatDuration(headers.afterMs)} for the headers, then ${answered(headers.answer)}, ${toldInWords(headers.upstream)}`
  return idle === undefined ? 'no limit on the wait for the headers' : 'the limit on silence covers the wait for the headers'
}

const endings = { fin: 'cuts off with a FIN', rst: 'resets', clean: 'ends the body cleanly', silent: 'drops it without a word' }
const endingInWords = ({ ending }: Pick<Limit, 'ending'>): string => endings[ending]

function toldInWords(upstream: UpstreamManner): string {
  if (upstream === 'none') return 'the server is never told'
  if (typeof upstream === 'object') return `the server is told at write ${upstream.afterWrites} after it`
  return `the server gets a ${upstream.toUpperCase()}`
}

function idleInWords(idle: IdleLimit): string {
  const what = { bytes: 'without a byte', events: 'without an event', progress: 'without progress' }[idle.counts]
  const whose = idle.direction === 'both' ? ' either way' : ''
  const rearm = idle.rearmMs === 0 ? '' : `, ${formatDuration(idle.rearmMs)} early at times`
  return `after ${formatDuration(idle.afterMs)} ${what}${whose}${rearm}: ${endingInWords(idle)}, or before the headers ${answered(idle.answer)}; ${toldInWords(idle.upstream)}`
}

function totalInWords(total: TotalLimit): string {
  const from = total.from === 'request' ? 'the request' : 'the headers'
  const at = total.at === 'next-write' ? ', at the next write' : ''
  return `${formatDuration(total.afterMs)} after ${from}${at}: ${endingInWords(total)}, or before the headers ${answered(total.answer)}; ${toldInWords(total.upstream)}`
}

const clientSendInWords = (limit: ClientSendLimit): string =>
  `a client that does not read for ${formatDuration(limit.afterMs)}: ${endingInWords(limit)}; ${toldInWords(limit.upstream)}`

function bufferingInWords({ mode, holdHeaders, atCut, sized, honours }: Buffering): string {
  const head = {
    true: 'holds the headers until there is a body',
    false: '',
    sized: 'holds the headers of an answer with a length until there is a body',
  }[String(holdHeaders) as 'true' | 'false' | 'sized']
  const isHolding = mode !== 'none' || holdHeaders !== false
  const cut = {
    flush: 'what is held goes at a cut',
    headers: 'at a cut only the headers go',
    answer: 'at a cut all is thrown away and answered instead',
  }[atCut]
  const parts = [
    mode === 'none' ? 'passes all on at once' : modeInWords(mode),
    ...(head === '' ? [] : [head]),
    ...(isHolding ? [cut] : []),
    ...(sized === undefined ? [] : [`a body with a length goes in pages of ${formatSize(sized.bytes)}`]),
    ...(honours.length === 0 ? [] : [`${honours.join(' or ')}: no switches it off`]),
  ]
  return parts.join('; ')
}

function modeInWords(mode: Exclude<Buffering['mode'], 'none'>): string {
  if (mode === 'full') return 'holds the whole answer'
  if (mode === 'one-behind') return 'is one event behind'
  if ('bytes' in mode) return `holds until ${formatSize(mode.bytes)} are there`
  if ('everyMs' in mode) return `holds for ${formatDuration(mode.everyMs)}`
  return {
    held: 'compresses, and holds all until the end',
    flushed: 'compresses, and passes each event on',
    'head-then-held': 'compresses: a few bytes at once, the rest at the end',
  }[mode.gzip]
}

function abortInWords(abort: Hop['clientAbort']): string {
  if (abort === undefined) return 'what one side does, the other sees'
  const manner = (how: AbortManner): string =>
    how === 'at-once' ? 'at once' : how === 'never' ? 'never' : `at write ${how.afterWrites} after it`
  const half = { abort: 'a half-close is a leaving', tolerate: 'a half-close is none', forward: 'a half-close is passed on' }[
    abort.halfClose
  ]
  return `the server learns of a client that left ${manner(abort.midStream)} in the stream, ${manner(abort.beforeHeaders)} before the headers, by ${abort.upstream.toUpperCase()}; ${half}`
}

function lossInWords(loss: Hop['upstreamLoss']): string {
  if (loss === undefined) return 'a lost server is passed on as it is'
  const { fin, rst } = loss.midStream
  const mid = (how: 'truncate' | 'clean'): string => (how === 'clean' ? 'ends cleanly' : 'is cut off')
  const stream = fin === rst ? `a stream ${mid(fin)}` : `a stream ${mid(fin)} where the server sent a FIN, ${mid(rst)} where it reset`
  const refused = loss.refused === undefined ? '' : `; a refused connection is ${answered(loss.refused)}`
  return `a server lost before its headers is ${answered(loss.beforeHeaders)}, ${stream}${refused}`
}

function requestInWords({ buffer, bodyMaxBytes, retry }: RequestManner): string {
  const parts = [
    buffer ? 'reads the request whole before it asks the server' : 'passes the request on as it comes',
    ...(bodyMaxBytes === null ? [] : [`refuses one over ${formatSize(bodyMaxBytes)}`]),
    ...(retry === null ? [] : [`sends it again on ${retry.on.join(' or ')}, ${retry.tries} tries in all`]),
  ]
  return parts.join('; ')
}
