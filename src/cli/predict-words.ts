/** A forecast for people: a line a path, and a line a call where that is asked for. */
import type { Prediction } from '../predict/predict.ts'
import type { RemedyTally, Tally } from '../predict/tally.ts'
import { causeInWords, remedyInWords, secondsInWords, seenInWords } from '../predict/words.ts'
import type { Column } from './columns.ts'
import { columns } from './columns.ts'
import { printable } from './printable.ts'

const right = 'right' as const
const PATH_COLUMNS: readonly Column[] = [
  { title: 'PATH' },
  { title: 'SURVIVE', align: right },
  { title: 'CUT', align: right },
  { title: 'UNKNOWN', align: right },
  { title: 'CUT AT', align: right },
  { title: 'BY' },
  { title: 'THE CLIENT SEES' },
  { title: 'CHEAPEST REMEDY' },
]

/** The paths that cut most come first. */
export function pathLines(tallies: readonly Tally[]): readonly string[] {
  const worstFirst = [...tallies].sort((a, b) => b.cut - a.cut || (a.cutMs?.earliest ?? Infinity) - (b.cutMs?.earliest ?? Infinity))
  return columns(
    PATH_COLUMNS,
    worstFirst.map((tally) => [
      tally.path,
      String(tally.survives),
      String(tally.cut),
      String(tally.unknown),
      rangeOf(tally.cutMs),
      byInWords(tally),
      tally.seen === null ? '' : seenInWords(tally.seen, true),
      remediesInWords(tally.remedies, tally.cut),
    ]),
  )
}

function rangeOf(cutMs: Tally['cutMs']): string {
  if (cutMs === null) return '-'
  const { earliest, latest } = cutMs
  return latest - earliest < 50 ? secondsInWords(earliest) : `${(earliest / 1_000).toFixed(1)}–${secondsInWords(latest)}`
}

/** `idle`, or of a path of several hops `nginx idle`; the most frequent first. */
function byInWords({ path, by }: Tally): string {
  return by.map(({ hop, cause }) => (path.includes(',') ? `${hop} ${causeInWords(cause)}` : causeInWords(cause))).join(', ')
}

function remediesInWords(remedies: readonly RemedyTally[], cut: number): string {
  const [first, second] = remedies
  if (first === undefined) return ''
  if (second === undefined) return remedyInWords(first.remedy)
  const more = remedies.length > 2 ? '; …' : ''
  return `${remedyInWords(first.remedy)} (${first.calls} of ${cut}); ${remedyInWords(second.remedy)} (${second.calls})${more}`
}

export function callLines(predictions: readonly Prediction[]): readonly string[] {
  return columns(
    [
      { title: 'CALL' },
      { title: 'WHAT' },
      { title: 'PATH' },
      { title: 'VERDICT' },
      { title: 'AT', align: right },
      { title: 'BY' },
      { title: 'THE CLIENT SEES' },
      { title: 'THE SERVER IS TOLD' },
      { title: 'CHEAPEST REMEDY' },
    ],
    predictions.map((prediction) => [
      prediction.call,
      printable(prediction.tool ?? prediction.method ?? ''),
      prediction.path,
      prediction.verdict,
      atInWords(prediction),
      prediction.cause === null ? '' : `${prediction.hop} ${causeInWords(prediction.cause)}`,
      prediction.verdict === 'unknown' ? '' : seenInWords(prediction.seen),
      toldInWords(prediction),
      prediction.remedy === null ? '' : remedyInWords(prediction.remedy),
    ]),
  )
}

function atInWords({ verdict, atMs, isAtLatest }: Prediction): string {
  if (atMs === null) return '-'
  const seconds = secondsInWords(atMs)
  if (verdict === 'unknown') return `past ${seconds}`
  return isAtLatest ? `by ${seconds}` : seconds
}

function toldInWords({ verdict, told }: Prediction): string {
  if (verdict !== 'cut') return ''
  return told === null ? 'never' : `${told.ending} at ${secondsInWords(told.atMs)}`
}
