/** `calls`: what a running sidecar saw, newest first. */
import type { CallRecord } from '../core/record.ts'
import { ADMIN_FLAG, askAdmin } from './admin-client.ts'
import { columns } from './columns.ts'
import type { Command } from './command.ts'
import { printable } from './printable.ts'

export const callsCommand: Command = {
  name: 'calls',
  says: 'List the calls a running sidecar saw: who closed each, when, and how long the server worked on',
  flags: [ADMIN_FLAG],
  switches: [
    { name: 'open', says: 'Only those whose stream or work goes on' },
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
    else world.out.print(calls.length === 0 ? 'No calls yet.' : callLines(calls).join('\n'))
    return 0
  },
}

function callsOf(json: unknown): readonly CallRecord[] | null {
  const calls = typeof json === 'object' && json !== null && 'calls' in json ? json.calls : null
  return Array.isArray(calls) ? (calls as readonly CallRecord[]) : null
}

/** One line a call, the titles first. */
export function callLines(calls: readonly CallRecord[]): readonly string[] {
  return columns(
    [
      { title: 'ID' },
      { title: 'OPENED' },
      { title: 'WHAT' },
      { title: 'STATUS' },
      { title: 'CLOSED BY' },
      { title: 'AFTER', align: 'right' },
      { title: 'RESULT' },
      { title: 'WORK' },
      { title: 'WENT ON', align: 'right' },
    ],
    calls.map((call) => [
      call.id,
      call.openedAt,
      printable(call.tool ?? call.method ?? call.kind),
      call.status === null ? '-' : String(call.status),
      closedBy(call),
      secondsOf(call.closedMs),
      call.result,
      call.work.outcome,
      secondsOf(call.work.afterCloseMs),
    ]),
  )
}

function closedBy({ closedBy: by, cause, hop, fault }: CallRecord): string {
  if (by === null) return 'open'
  const seat = fault ?? hop
  return `${by} (${cause ?? 'unknown'}${seat === null ? '' : `, ${seat}`})`
}

const secondsOf = (ms: number | null): string => (ms === null ? '-' : `${(ms / 1_000).toFixed(1)} s`)
