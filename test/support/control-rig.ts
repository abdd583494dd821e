/** The data path with faults, hops and control as the sidecar composes them, its journal, and what an operator may do to it. */
import type { Steering } from '../../src/app/steering.ts'
import { createSteering } from '../../src/app/steering.ts'
import type { Snapshot } from '../../src/config/snapshot.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { CallRecord } from '../../src/core/record.ts'
import type { Safety } from '../../src/faults/fault-schema.ts'
import { faultRuleSchema } from '../../src/faults/fault-schema.ts'
import type { FaultTally } from '../../src/faults/memory.ts'
import type { Hop } from '../../src/hops/hop.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createJournal } from '../../src/journal/journal.ts'
import { realClock } from '../../src/wire/real-clock.ts'
import { whenTestEnds } from './raw-socket.ts'
import type { WireRig, WireRigOptions } from './wire-rig.ts'
import { wireRig } from './wire-rig.ts'

export interface ControlRig extends WireRig {
  readonly steering: Steering
  readonly control: Steering['control']
  readonly journal: Journal
  /** As `settings.faults` of a file would be read. */
  reload(
    faults: readonly object[],
    more?: { readonly path?: readonly Hop[]; readonly safety?: Safety; readonly snapshot?: Partial<Snapshot> },
  ): void
  tally(fault: string): FaultTally
  /** The n-th exchange's record (0: the first), as it stands. */
  record(exchange?: number): CallRecord
  /** Notes that seats told in that exchange: `f fired`, `f skipped: the body is encoded …`. */
  notes(exchange?: number): string[]
}

export interface ControlRigOptions extends Omit<WireRigOptions, 'plans' | 'planner' | 'openRecord'> {
  /** As written in a file; `name: 'f'` unless given. */
  readonly faults?: readonly object[]
  readonly safety?: Safety
  readonly path?: readonly Hop[]
  readonly snapshot?: Partial<Snapshot>
}

const BASE: Snapshot = {
  mode: 'act',
  path: [],
  work: { graceMs: 2_000, afterCut: 'hang-up', waitMs: 60_000, inject: 'none' },
  seed: 7,
}

export async function controlRig(upstream: URL, options: ControlRigOptions = {}): Promise<ControlRig> {
  const clock: Clock = options.clock ?? realClock
  const settingsOf = (faults: readonly object[], { path = [], safety = {}, snapshot = {} }: ControlRigOptions) => ({
    snapshot: { ...BASE, path, ...snapshot },
    faults: { rules: faults.map((fault) => faultRuleSchema.parse({ name: 'f', ...fault })), safety },
  })
  const steering = createSteering(settingsOf(options.faults ?? [], options), clock, {
    setPath: () => undefined,
    setFaults: () => undefined,
  })
  const journal = createJournal({
    clock,
    graceMs: 2_000,
    waitMs: 60_000,
    sinks: [],
    onSinkError: (name, error) => {
      throw new Error(`${name}: ${String(error)}`)
    },
  })
  const rig = await wireRig(upstream, { ...options, planner: steering.planner, openRecord: journal.openExchange })
  steering.attach(rig.listener, () => journal.calls({ open: true }))
  whenTestEnds(() => steering.close())
  return {
    ...rig,
    steering,
    control: steering.control,
    journal,
    reload: (faults, more = {}) => steering.reload(settingsOf(faults, more)),
    tally: steering.tally,
    record(exchange = 0) {
      const found = journal.call(`c${exchange + 1}`)
      if (found === null) throw new Error(`no exchange ${exchange}`)
      return found
    },
    notes: (exchange = 0) =>
      rig.facts(exchange).flatMap((fact) => {
        if (fact.kind !== 'noted') return []
        const { note, seat } = fact
        return note.is === 'decided' ? [`${seat} ${note.what}${note.why === undefined ? '' : `: ${note.why}`}`] : [`${seat} ${note.is}`]
      }),
  }
}
