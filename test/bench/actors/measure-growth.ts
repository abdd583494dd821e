/** What an event and a request cost with few streams open, and with as many as there can be: the same proxy twice, measured in turn. */
import type { Side } from './load.ts'
import { control, emit, numberOf, openStream, openWindow, perUnitUs, sides } from './load.ts'
import { rtt } from './measure-flow.ts'
import { createStampReader, sleep } from './wire-words.ts'

const FEW = 64
/** In all, however many streams share them. */
const EVENTS_PER_S = 12_800

/** A proxy, and the streams that are open through it. */
interface Held {
  readonly side: Side
  readonly group: string
  readonly streams: number
  events: number
}

/** A figure set a round: each is a repetition. */
export async function measureGrowth(): Promise<void> {
  await control('/ctl/reset')
  const [side, twin] = sides
  if (twin === undefined) throw new Error('--sides: a second proxy is missing')
  const few: Held = { side, group: 'few', streams: FEW, events: 0 }
  const many: Held = { side: twin, group: 'many', streams: numberOf('streams', 9_800), events: 0 }
  for (const held of [few, many]) await openAll(held)
  for (const held of [few, many]) {
    await requestUs(held)
    await eventUs(held)
  }
  for (let round = 1; round <= numberOf('rounds', 5); round += 1) {
    const both = round % 2 === 1 ? [few, many] : [many, few]
    const request = await costs(both, requestUs)
    const event = await costs(both, eventUs)
    const spread = await costs(both, spreadEventUs)
    const figures = {
      few: FEW,
      many: many.streams,
      requestFewUs: request.get(few) ?? null,
      requestManyUs: request.get(many) ?? null,
      requestRatio: ratioOf(request.get(many), request.get(few)),
      eventFewUs: event.get(few) ?? null,
      eventManyUs: event.get(many) ?? null,
      eventRatio: ratioOf(event.get(many), event.get(few)),
      spreadRatio: ratioOf(spread.get(many), spread.get(few)),
    }
    emit('growth', figures, { round })
  }
  await control('/ctl/reset')
}

type Cost = (of: Held) => Promise<number | null>

async function costs(both: readonly Held[], cost: Cost): Promise<ReadonlyMap<Held, number | null>> {
  const byHeld = new Map<Held, number | null>()
  for (const held of both) byHeld.set(held, await cost(held))
  return byHeld
}

const requestUs: Cost = async ({ side }) => (await rtt(FEW, side))['cpuUsPerRequest'] ?? null

const ratioOf = (many: number | null = null, few: number | null = null): number | null =>
  many === null || few === null ? null : many / few

async function openAll(held: Held): Promise<void> {
  let next = 0
  const openNext = async (): Promise<void> => {
    while (next < held.streams) {
      const at = next
      next += 1
      await new Promise<void>((resolve) => {
        const read = createStampReader(() => {
          held.events += 1
          resolve()
        })
        openStream(`/sse?group=${held.group}`, read, `127.0.0.${2 + (at % 4)}`, held.side).catch(() => resolve())
      })
    }
  }
  await Promise.all(Array.from({ length: 100 }, openNext))
}

const setRate = ({ group }: Held, perSecond: number, more: string): Promise<unknown> =>
  control(`/ctl/rate?r=${perSecond}&group=${group}${more}`)

/** Its CPU for one event, as `events` has them: all streams have theirs at once, and so again and again. From one pause to another. */
const eventUs: Cost = async (held) => {
  await setRate(held, EVENTS_PER_S / held.streams, '')
  await sleep(numberOf('event-warm', 500))
  return windowOf(held, numberOf('event-ms', 1_400), paused)
}

/** The same with each stream in its own time: hardly any two in one poll, and seldom one that the processor still knows. */
const spreadEventUs: Cost = async (held) => {
  await setRate(held, EVENTS_PER_S / held.streams, '&spread')
  await sleep(numberOf('spread-warm', 300))
  return windowOf(held, numberOf('spread-ms', 800), atOnce)
}

const atOnce = async (): Promise<void> => undefined

async function windowOf(held: Held, ms: number, untilPause: (of: Held) => Promise<void>): Promise<number | null> {
  await untilPause(held)
  const from = held.events
  const close = openWindow(held.side)
  await sleep(ms)
  await untilPause(held)
  const us = perUnitUs(close().cpuS, held.events - from, held.side)
  await setRate(held, 0, '')
  await sleep(numberOf('settle', 150))
  return us
}

const PAUSE_MS = 40
const PAUSE_WAIT_MS = 900

/** Until no event has come for a moment, so that none is counted here whose work is counted there; a few streams never pause. */
async function paused(held: Held): Promise<void> {
  if (held.streams === FEW) return
  for (let waitedMs = 0; waitedMs < PAUSE_WAIT_MS; waitedMs += PAUSE_MS) {
    const before = held.events
    await sleep(PAUSE_MS)
    if (held.events === before) return
  }
}
