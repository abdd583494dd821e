/** Every way an exchange can end, as data: who ends it, how and when; what each side then sees, and what is told of it. */
import type { Break, CauseKind, Ending } from '../../src/core/signal.ts'
import type { Hop } from '../../src/hops/hop.ts'
import { answer, hop, idle, limit, total } from './line-rig.ts'
import { headText, sseHead } from './raw-http.ts'

export const WHENS = ['before headers', 'mid-stream', 'after the result', 'after the end'] as const
export type When = (typeof WHENS)[number]

export interface EndingRow {
  readonly who: 'client' | 'server' | 'hop'
  readonly how: Ending
  readonly when: When
  /** What makes this row different from its plain sister. */
  readonly with: string
  readonly head: string
  readonly hops: readonly Hop[]
  /** The raw act, where the actor is the client or the server. */
  readonly act: Break | 'terminator' | 'close' | null
  readonly client: { readonly status: number | null; readonly body: 'whole' | 'cut' | 'none'; readonly ends: Break | 'kept' | 'own' }
  readonly server: Break | 'kept' | 'own'
  readonly cause: CauseKind
  readonly ending: Ending
  readonly told: Break | null
}

export const sizedHead = headText(200, [
  ['Content-Type', 'application/json'],
  ['Content-Length', '10000'],
])
export const eofHead = headText(200, [['Content-Type', 'text/event-stream']])
export const LIMIT_MS = 60_000

const plain = { with: '', head: sseHead, hops: [], act: null } as const
const manners = { refused: answer(502), beforeHeaders: answer(502), midStream: { fin: 'truncate', rst: 'truncate' } } as const
const nginx = hop('nginx', { upstreamLoss: manners })
const tolerant = hop('tolerant', {
  clientAbort: { midStream: 'at-once', beforeHeaders: 'at-once', halfClose: 'tolerate', upstream: 'fin' },
})
const impatient = (ending: Ending, upstream: Break | 'none' = 'fin', isBare = false): Hop =>
  hop('impatient', { idle: idle(LIMIT_MS, { ending, upstream, ...(isBare ? { answer: null } : {}) }) })

const cutBody = (when: When, ends: Break | 'own'): EndingRow['client'] =>
  when === 'before headers' ? { status: null, body: 'none', ends } : { status: 200, body: 'cut', ends }

const OPEN: readonly When[] = ['before headers', 'mid-stream', 'after the result']

const clientRows: readonly EndingRow[] = OPEN.flatMap((when) => {
  const fin = { ...plain, who: 'client', how: 'fin', when, cause: 'client_abort', ending: 'fin', server: 'fin', told: 'fin' } as const
  const rst = { ...plain, who: 'client', how: 'rst', when, act: 'rst', client: cutBody(when, 'own'), cause: 'client_reset' } as const
  return [
    { ...fin, with: 'half-close', act: 'fin', client: cutBody(when, 'fin') },
    { ...fin, with: 'close', act: 'close', client: cutBody(when, 'own') },
    { ...fin, with: 'half-close, nginx', hops: [nginx], act: 'fin', client: cutBody(when, 'fin') },
    { ...rst, server: 'rst', ending: 'rst', told: 'rst' },
    { ...rst, with: 'nginx', hops: [nginx], server: 'fin', ending: 'rst', told: 'fin' },
    { ...rst, with: 'tolerant', hops: [tolerant], server: 'fin', ending: 'rst', told: 'fin' },
  ] satisfies EndingRow[]
})

const afterEnd = { ...plain, who: 'client', when: 'after the end', server: 'kept', cause: 'complete', ending: 'clean', told: null } as const
const whole = { status: 200, body: 'whole' } as const
const afterEndRows: readonly EndingRow[] = [
  { ...afterEnd, how: 'clean', with: 'asks again', act: null, client: { ...whole, ends: 'kept' } },
  { ...afterEnd, how: 'fin', act: 'fin', client: { ...whole, ends: 'fin' } },
  { ...afterEnd, how: 'rst', act: 'rst', client: { ...whole, ends: 'own' } },
]

const served = { ...plain, who: 'server', server: 'own', told: null } as const
const answered502 = { status: 502, body: 'whole', ends: 'kept' } as const
const causeOf = { fin: 'server_close', rst: 'server_reset' } as const
const serverRows: readonly EndingRow[] = (['fin', 'rst'] as const).flatMap((how) => {
  const row = { ...served, how, act: how, cause: causeOf[how] } as const
  const early = { ...row, when: 'before headers', client: answered502, ending: 'clean' } as const
  const later = (['mid-stream', 'after the result'] as const).flatMap((when): EndingRow[] => [
    { ...row, when, client: cutBody(when, how), ending: how },
    { ...row, when, with: 'Content-Length', head: sizedHead, client: cutBody(when, how), ending: how },
    { ...row, when, with: 'nginx', hops: [nginx], client: cutBody(when, 'fin'), ending: 'fin' },
  ])
  return [early, { ...early, with: 'nginx', hops: [nginx] }, ...later]
})
const forgiving = hop('forgiving', { upstreamLoss: { ...manners, midStream: { fin: 'clean', rst: 'truncate' } } })
const serverCleanRows: readonly EndingRow[] = (['mid-stream', 'after the result'] as const).flatMap((when): EndingRow[] => {
  const clean = { ...served, how: 'clean', when, ending: 'clean', cause: 'complete' } as const
  return [
    { ...clean, act: 'terminator', server: 'kept', client: { ...whole, ends: 'kept' } },
    { ...clean, with: 'EOF-delimited', head: eofHead, act: 'fin', client: { ...whole, ends: 'fin' } },
    {
      ...clean,
      how: 'rst',
      with: 'EOF-delimited',
      head: eofHead,
      act: 'rst',
      client: { status: 200, body: 'cut', ends: 'rst' },
      cause: 'server_reset',
      ending: 'rst',
    },
    { ...clean, how: 'fin', with: 'forgiving', hops: [forgiving], act: 'fin', client: { ...whole, ends: 'kept' }, cause: 'server_close' },
  ]
})

const cutting = { ...plain, who: 'hop', cause: 'idle_timeout' } as const
const answered504 = { status: 504, body: 'whole', ends: 'kept' } as const
const early = { ...cutting, when: 'before headers', server: 'fin', told: 'fin' } as const
const hopEarlyRows: readonly EndingRow[] = [
  { ...early, how: 'clean', with: 'idle', hops: [impatient('fin')], client: answered504, ending: 'clean' },
  {
    ...early,
    how: 'clean',
    with: 'headers',
    hops: [hop('h', { headers: limit(LIMIT_MS) })],
    client: answered504,
    ending: 'clean',
    cause: 'header_timeout',
  },
  {
    ...early,
    how: 'clean',
    with: 'total, upstream rst',
    hops: [hop('t', { total: total(LIMIT_MS, { upstream: 'rst' }) })],
    client: answered504,
    ending: 'clean',
    cause: 'max_duration',
    server: 'rst',
    told: 'rst',
  },
  { ...early, how: 'fin', with: 'bare', hops: [impatient('fin', 'fin', true)], client: cutBody('before headers', 'fin'), ending: 'fin' },
  { ...early, how: 'rst', with: 'bare', hops: [impatient('rst', 'fin', true)], client: cutBody('before headers', 'rst'), ending: 'rst' },
]
const hopLaterRows: readonly EndingRow[] = (['mid-stream', 'after the result'] as const).flatMap((when): EndingRow[] => {
  const row = { ...cutting, when, server: 'fin', told: 'fin' } as const
  const clean = { ...row, how: 'clean', hops: [impatient('clean')] } as const
  return [
    { ...clean, client: { ...whole, ends: 'kept' }, ending: 'clean' },
    { ...clean, with: 'EOF-delimited', head: eofHead, client: { ...whole, ends: 'fin' }, ending: 'clean' },
    { ...clean, with: 'Content-Length: becomes fin', head: sizedHead, client: cutBody(when, 'fin'), ending: 'fin' },
    { ...row, how: 'fin', hops: [impatient('fin')], client: cutBody(when, 'fin'), ending: 'fin' },
    { ...row, how: 'rst', hops: [impatient('rst')], client: cutBody(when, 'rst'), ending: 'rst' },
    {
      ...row,
      how: 'fin',
      with: 'upstream rst',
      hops: [impatient('fin', 'rst')],
      client: cutBody(when, 'fin'),
      ending: 'fin',
      server: 'rst',
      told: 'rst',
    },
    {
      ...row,
      how: 'fin',
      with: 'upstream none',
      hops: [impatient('fin', 'none')],
      client: cutBody(when, 'fin'),
      ending: 'fin',
      server: 'kept',
      told: null,
    },
    {
      ...row,
      how: 'fin',
      with: 'total',
      hops: [hop('t', { total: total(LIMIT_MS) })],
      client: cutBody(when, 'fin'),
      ending: 'fin',
      cause: 'max_duration',
    },
  ]
})

export const endingRows: readonly EndingRow[] = [
  ...clientRows,
  ...afterEndRows,
  ...serverRows,
  ...serverCleanRows,
  ...hopEarlyRows,
  ...hopLaterRows,
]
