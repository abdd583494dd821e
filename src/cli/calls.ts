/** `calls`: what a running sidecar saw, newest first. */
import { wouldCutInWords } from '../core/cause-words.ts'
import type { CallRecord } from '../core/record.ts'
import { ADMIN_FLAG, askAdmin } from './admin-client.ts'
import type { Column } from './columns.ts'
import { columns } from './columns.ts'
import type { Command } from './command.ts'
import { printable } from './printable.ts'

export const callsCommand: Command = {
  name: 'calls',
  says: 'List the calls a running sidecar saw: who closed each, when, and how long the server worked on',
  flags: [ADMIN_FLAG],
  switches: [
    { name: 'open', says: 'Only those whose stream is open' },
    { name: 'json', says: 'The records, as the API has them' },
  ],
  examples: [
    ['calls', 'recent calls of the sidecar on this machine'],
    ['calls --open --admin http://10.0.0.7:8475', 'open ones of another'],
  ],
  async run(args, world) {
    const asked = await askAdmin(`/api/v1/calls${args.switches.has('open') ? '?open=true' : ''}`, args, world)
    if ('code' in asked) return asked.code
    const calls = callsOf(asked.json)
    if (calls === null) {
      world.err.print('impatient-hop: the answer has no calls: is this a sidecar of this version?')
      return 3
    }
    if (args.switches.has('json')) world.out.print(JSON.stringify(calls, null, 2))
    else world.out.print(calls.length === 0 ? noneOf(args.switches.has('open')) : callLines(calls, world.wallMs()).join('\n'))
    return 0
  },
}

const noneOf = (isOpenAsked: boolean): string => (isOpenAsked ? 'No open calls.' : 'No calls yet.')

function callsOf(json: unknown): readonly CallRecord[] | null {
  const calls = typeof json === 'object' && json !== null && 'calls' in json ? json.calls : null
  return Array.isArray(calls) ? (calls as readonly CallRecord[]) : null
}

interface Cell extends Column {
  of(call: CallRecord): string
  /** Left out where no call has anything for it. */
  readonly isRare?: true
}

const cells = (wallMs: number): readonly Cell[] => [
  { title: 'ID', of: ({ id }) => id },
  { title: 'OPENED', of: ({ openedAt }) => openedAt },
  { title: 'WHAT', of: ({ tool, method, kind }) => printable(tool ?? method ?? kind) },
  { title: 'STATUS', of: ({ status }) => (status === null ? '-' : String(status)) },
  { title: 'CLOSED BY', of: closedBy },
  { title: 'AFTER', align: 'right', of: ({ closedMs }) => secondsOf(closedMs) },
  { title: 'WOULD BE CUT', of: wouldBeCut, isRare: true },
  { title: 'RESULT', of: ({ result }) => result },
  { title: 'GIVEN UP', of: givenUp, isRare: true },
  { title: 'WORK', of: workOf },
  { title: 'WENT ON', align: 'right', of: (call) => wentOn(call, wallMs) },
]

/** One line a call, the titles first. `wallMs`: now, for work that goes on. */
export function callLines(calls: readonly CallRecord[], wallMs: number): readonly string[] {
  const shown = cells(wallMs).filter(({ isRare, of }) => isRare !== true || calls.some((call) => of(call) !== '-'))
  return columns(
    shown,
    calls.map((call) => shown.map(({ of }) => of(call))),
  )
}

function closedBy({ closedBy: by, cause, hop, fault }: CallRecord): string {
  if (by === null) return 'open'
  const seat = fault ?? hop
  return `${by} (${cause ?? 'unknown'}${seat === null ? '' : `, ${seat}`})`
}

const wouldBeCut = ({ wouldCut = [] }: Partial<CallRecord>): string =>
  wouldCut.length === 0 ? '-' : wouldCut.map((cut) => `${printable(wouldCutInWords(cut))} at ${secondsOf(cut.atMs)}`).join(', ')

/** Where the close does not show it. */
const givenUp = ({ abandonedMs, abandonedBy }: CallRecord): string =>
  abandonedBy === 'notification' ? `${secondsOf(abandonedMs)}, by notification` : '-'

const isTool = ({ method }: CallRecord): boolean => method === 'tools/call'
/** Given up, its start reported, its end not yet. */
const isOnlyRunning = ({ abandonedMs, work: { startedMs, endedMs, outcome } }: CallRecord): boolean =>
  outcome === 'pending' && abandonedMs !== null && startedMs != null && endedMs == null

const workOf = (call: CallRecord): string => (!isTool(call) ? '-' : isOnlyRunning(call) ? 'running' : call.work.outcome)

function wentOn(call: CallRecord, wallMs: number): string {
  if (!isTool(call)) return '-'
  if (!isOnlyRunning(call)) return secondsOf(call.work.afterCloseMs)
  return `${secondsOf(Math.max(0, wallMs - Date.parse(call.openedAt) - (call.abandonedMs ?? 0)))} so far`
}

const secondsOf = (ms: number | null): string => (ms === null ? '-' : `${(ms / 1_000).toFixed(1)} s`)
