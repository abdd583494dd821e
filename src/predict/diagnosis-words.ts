/** Findings as the sentences that the summary and `diagnose` print. */
import { assertNever } from '../core/assert.ts'
import { formatDuration } from '../core/units.ts'
import type { Cluster } from './clusters.ts'
import { timeOf } from './clusters.ts'
import type { Finding } from './diagnosis.ts'
import type { ForeignClose } from './foreign-close.ts'
import type { KnownLimit } from './known-limits.ts'
import type { Explanation, WhyNot } from './match-limits.ts'

export function findingLines(finding: Finding): readonly string[] {
  switch (finding.is) {
    case 'too-few':
      return [
        `${finding.count} ${nounOf(finding, finding.count)}: too few to tell who made ${finding.count === 1 ? 'it' : 'them'} (5 at least).`,
      ]
    case 'scattered':
      return [`${ofAll(finding.count, finding.of, finding)} came after no time in common: people who left, or crashes, and no limit.`]
    case 'cluster':
      return [clusterLine(finding)]
    case 'drops':
      return [dropsLine(finding)]
    default:
      return assertNever(finding)
  }
}

type Whose = Pick<ForeignClose, 'side' | 'form'>

function nounOf({ side, form }: Whose, count: number): string {
  const plural = (noun: string): string => (count === 1 ? noun : `${noun}s`)
  if (form === 'cancel') return plural('cancellation')
  return form === 'close' ? plural(`${side} close`) : `${plural('answer')} ${form} in the server's place`
}
const ofAll = (count: number, of: number, whose: Whose): string =>
  count === of ? `${count === 1 ? 'The one' : `All ${count}`} ${nounOf(whose, of)}` : `${count} of ${of} ${nounOf(whose, of)}`

function clusterLine({ cluster, of, explanation }: Extract<Finding, { is: 'cluster' }>): string {
  const { members, medianMs, spreadMs, measure } = cluster
  const [first] = members
  const who = ofAll(members.length, of, first ?? { side: 'client', form: 'close' })
  const came = `${(medianMs / 1_000).toFixed(1)} ± ${(Math.max(50, spreadMs) / 1_000).toFixed(1)} s`
  const since = { silence: 'after the last byte', total: 'after the request', sinceHead: 'after the headers' }[measure]
  const isSilent = explanation.kinds.length > 1
  const when = isSilent ? 'after the request, with nothing sent since' : since
  const other = isSilent
    ? ''
    : `, ${measure === 'silence' ? 'totals' : 'silences'} ${rangeOf(cluster, measure === 'silence' ? 'total' : 'silence')}`
  return `${who} came ${came} ${when}${other}: ${explained(explanation)}`
}

function explained(explanation: Explanation): string {
  const { kinds, limitMs, fits } = explanation
  const limit = `${kinds.length > 1 ? 'a' : kinds[0] === 'idle' ? 'an idle' : 'a total'} limit of ${limitInWords(limitMs)}`
  const on =
    kinds.length > 1 ? ` on ${kinds.map((kind) => ({ wait: 'the headers', idle: 'silence', total: 'the whole' })[kind]).join(' or ')}` : ''
  const who = fits.length === 0 ? ', which no preset has' : ` (${fits.map((fit) => named(fit, limitMs)).join(', ')})`
  return `${limit}${on}${who}.${ruledOutInWords(explanation)}${contradiction(explanation)}`
}

/** With its own limit, where that is another as near. */
const named = ({ preset, ms }: KnownLimit, limitMs: number): string => (ms === limitMs ? preset : `${preset}: ${limitInWords(ms)}`)

/** Named by why they are not it. */
function ruledOutInWords({ ruledOut }: Explanation): string {
  const sentences = new Map<string, string[]>()
  for (const { limit, why } of ruledOut) {
    const reason = reasonOf(limit, why)
    sentences.set(reason, [...(sentences.get(reason) ?? []), limit.preset])
  }
  return [...sentences].map(([reason, presets]) => ` Not ${presets.join(', ')}: ${reason}.`).join('')
}

function reasonOf({ kind, ms, status, tells }: KnownLimit, why: WhyNot): string {
  switch (why) {
    case 'kind':
      return `${kind === 'total' ? 'a total' : kind === 'idle' ? 'an idle limit' : 'a limit on the headers alone'} of ${limitInWords(ms)}`
    case 'break':
      return tells === 'rst' ? 'it resets, and these were FINs' : 'it ends with a FIN, and these were resets'
    case 'untold':
      return 'it does not tell the server'
    case 'drops':
      return 'it closes when its time is over, not at the next write'
    case 'side':
      return 'it is no proxy, and cannot be behind this one'
    case 'status':
      return status === null ? 'it does not answer' : `it answers ${status}`
    default:
      return assertNever(why)
  }
}

const contradiction = ({ survivedMs }: Explanation): string =>
  survivedMs === null ? '' : ` Yet a call was silent for ${(survivedMs / 1_000).toFixed(1)} s and lived: not every call goes this way.`

function dropsLine({ closes, of, gapMs, explanation }: Extract<Finding, { is: 'drops' }>): string {
  const [first] = closes
  const who = ofAll(closes.length, of, first ?? { side: 'client', form: 'close' })
  const gaps = `${(gapMs.least / 1_000).toFixed(1)}–${(gapMs.most / 1_000).toFixed(1)} s`
  const low = gapMs.survivedMs !== null && gapMs.survivedMs < gapMs.least ? ` and more than ${limitInWords(gapMs.survivedMs)}` : ''
  const fits =
    explanation.fits.length === 0
      ? ', which no preset has'
      : ` (${explanation.fits.map(({ preset, ms }) => `${preset}: ${limitInWords(ms)}`).join(', ')})`
  const limit = `an idle limit of at most ${limitInWords(gapMs.least)}${low} that drops without a word${fits}.`
  return `${who} came at the server's first write after ${gaps} of silence: ${limit}`
}

function rangeOf({ members }: Cluster, measure: 'silence' | 'total'): string {
  const times = members.flatMap((close) => timeOf(close, measure) ?? [])
  const [least, most] = [Math.min(...times) / 1_000, Math.max(...times) / 1_000]
  const digits = most < 10 ? 1 : 0
  return `${least.toFixed(digits)}–${most.toFixed(digits)} s`
}

/** `60 s`: in the unit that the closes beside it are told in; minutes only where they are many. */
const limitInWords = (ms: number): string => (ms < 600_000 ? `${Number((ms / 1_000).toFixed(1))} s` : formatDuration(Math.round(ms)))
