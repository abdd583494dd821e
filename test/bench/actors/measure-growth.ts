/** What an event and a request cost with few streams open, and with as many as there can be. */
import { control, emit, numberOf, openStream, openWindow, perUnitUs } from './load.ts'
import { rtt } from './measure-flow.ts'
import { createStampReader, sleep } from './wire-words.ts'

const FEW = 64
/** In all, however many streams share them. */
const EVENTS_PER_S = 12_800

export async function measureGrowth(): Promise<void> {
  const many = numberOf('streams', 9_800)
  await control('/ctl/reset')
  const requestFewUs = (await rtt(FEW))['cpuUsPerRequest'] ?? null
  const counter = { events: 0 }
  await openUpTo(FEW, 0, counter)
  const eventFewUs = await eventUs(FEW, counter)
  await control('/ctl/rate?r=0') // at the rate of a few, so many would be a flood
  await openUpTo(many, FEW, counter)
  const eventManyUs = await eventUs(many, counter)
  await control('/ctl/rate?r=0')
  await sleep(500)
  const requestManyUs = (await rtt(FEW))['cpuUsPerRequest'] ?? null
  emit('growth', {
    few: FEW,
    many,
    eventFewUs,
    eventManyUs,
    eventRatio: ratioOf(eventManyUs, eventFewUs),
    requestFewUs,
    requestManyUs,
    requestRatio: ratioOf(requestManyUs, requestFewUs),
  })
  await control('/ctl/reset')
}

const ratioOf = (many: number | null, few: number | null): number | null => (many === null || few === null ? null : many / few)

async function openUpTo(wanted: number, have: number, counter: { events: number }): Promise<void> {
  let next = have
  const openNext = async (): Promise<void> => {
    while (next < wanted) {
      const at = next
      next += 1
      await new Promise<void>((resolve) => {
        const read = createStampReader(() => {
          counter.events += 1
          resolve()
        })
        openStream('/sse', read, `127.0.0.${2 + (at % 4)}`).catch(() => resolve())
      })
    }
  }
  await Promise.all(Array.from({ length: 100 }, openNext))
}

/** The proxy's CPU for one event, at the same number of events a second. */
async function eventUs(streams: number, counter: { events: number }): Promise<number | null> {
  await control(`/ctl/rate?r=${EVENTS_PER_S / streams}`)
  await sleep(numberOf('warm', 2_000))
  const from = counter.events
  const close = openWindow()
  await sleep(numberOf('ms', 4_000))
  return perUnitUs(close().cpuS, counter.events - from)
}
