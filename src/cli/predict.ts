/** `predict`: recorded calls against hops they never met. */
import type { CallRecord } from '../core/record.ts'
import type { Candidate } from '../predict/candidate.ts'
import { callsAmong, forecast } from '../predict/forecast.ts'
import type { Prediction } from '../predict/predict.ts'
import type { Tally } from '../predict/tally.ts'
import { remedyInWords } from '../predict/words.ts'
import { CANDIDATE_FLAGS, readCandidates } from './candidates.ts'
import type { Command, CommandArguments } from './command.ts'
import { EVENTS_FLAG, readEventsFile } from './events-file.ts'
import type { ExitCode } from './exit-code.ts'
import { callLines, pathLines } from './predict-words.ts'
import { PRODUCT } from './product.ts'
import { createProgressBar } from './progress-bar.ts'
import type { World } from './world.ts'

const FAIL_ON = ['cut', 'unknown'] as const
/** Listed unasked; more would bury the table. */
const CALLS_LISTED_MAX = 20

export const predictCommand: Command = {
  name: 'predict',
  says: 'Judge recorded calls against hops: which would cut which call, when, and what would have saved it',
  flags: [
    EVENTS_FLAG,
    ...CANDIDATE_FLAGS,
    { name: 'fail-on', takes: 'cut|unknown', says: 'Exit 1 where a call is cut (unknown: or may be)', choices: FAIL_ON },
  ],
  switches: [
    { name: 'all', says: 'List every call and path, survivors too' },
    { name: 'json', says: 'Every verdict and the sums, as one JSON document' },
  ],
  examples: [
    ['predict --events calls.jsonl', 'against every preset'],
    ['predict --events calls.jsonl --hop nginx --hop cloudflare,nginx:idle.after=20s', 'against two paths'],
    ['predict --events calls.jsonl --config impatient-hop.yaml --fail-on cut', 'for CI: exit 1 where the path cuts a call'],
  ],
  async run(args, world) {
    const failOn = failOnOf(args, world)
    const read = readCandidates(args, world)
    if ('errors' in read) for (const error of read.errors) world.err.print(`${PRODUCT}: ${error}`)
    if (failOn === null || 'errors' in read) return 2
    const records = readEventsFile('predict', args, world)
    if (records === null) return 2
    const calls = callsAmong(records)
    if (calls.length === 0) {
      world.err.print(`${PRODUCT}: predict: none of the ${records.length} records is a call that was asked of the server`)
      return 2
    }
    const tallies = args.switches.has('json') ? printJson(calls, read.candidates, world) : printTables(calls, read.candidates, args, world)
    const isFailed = tallies.some(({ cut, unknown }) => (failOn !== 'never' && cut > 0) || (failOn === 'unknown' && unknown > 0))
    return isFailed ? 1 : (0 satisfies ExitCode)
  },
}

function failOnOf({ flags }: CommandArguments, world: World): 'cut' | 'unknown' | 'never' | null {
  const given = flags['fail-on']
  if (given === undefined) return 'never'
  const found = FAIL_ON.find((word) => word === given)
  if (found === undefined) world.err.print(`${PRODUCT}: --fail-on: expected cut or unknown, got ${JSON.stringify(given)}`)
  return found ?? null
}

function printTables(
  calls: readonly CallRecord[],
  candidates: readonly Candidate[],
  { switches }: CommandArguments,
  world: World,
): readonly Tally[] {
  const { out, err } = world
  const isAll = switches.has('all')
  const listed: Prediction[] = []
  let cut = 0
  const bar = createProgressBar(err, calls.length, 'calls')
  const tallies = forecast(calls, candidates, {
    take(prediction) {
      if (prediction.verdict === 'cut') cut += 1
      if (isAll || (prediction.verdict === 'cut' && cut <= CALLS_LISTED_MAX)) listed.push(prediction)
    },
    progress: bar.at,
  })
  bar.clear()
  out.print(pathLines(tallies).join('\n'))
  const isListed = isAll || (cut > 0 && cut <= CALLS_LISTED_MAX)
  if (isListed) out.print(`\n${callLines(listed).join('\n')}`)
  const counted = `${calls.length} call${calls.length === 1 ? '' : 's'} against ${candidates.length} path${candidates.length === 1 ? '' : 's'}`
  out.print(`\n${counted}${isListed ? '' : ': --all lists each, --json gives all of it to programs'}.`)
  return tallies
}

/** Written as it comes: verdicts may be hundreds of thousands. */
function printJson(calls: readonly CallRecord[], candidates: readonly Candidate[], { out, err }: World): readonly Tally[] {
  const bar = createProgressBar(err, calls.length, 'calls')
  let isFirst = true
  out.write('{"predictions":[')
  const tallies = forecast(calls, candidates, {
    take(prediction) {
      const advice = prediction.remedy === null ? null : remedyInWords(prediction.remedy)
      out.write(`${isFirst ? '' : ','}\n${JSON.stringify({ ...prediction, advice })}`)
      isFirst = false
    },
    progress: bar.at,
  })
  bar.clear()
  out.write(`\n],"paths":[\n${tallies.map((tally) => JSON.stringify(tally)).join(',\n')}\n]}\n`)
  return tallies
}
