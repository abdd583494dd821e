/** HTTP exchanges: opened, open, closed and how. */
import type { CounterAbout, GaugeAbout } from './about.ts'
import type { Family } from './family.ts'
import { KINDS, possibleCloses } from './words.ts'

const OPENED: CounterAbout = {
  name: 'exchanges_opened_total',
  type: 'counter',
  title: 'Exchanges opened',
  help: 'HTTP exchanges and WebSocket sessions opened, by what they ask.',
  labels: ['kind'],
  unit: 'count',
}
const OPEN: GaugeAbout = {
  name: 'exchanges_open',
  type: 'gauge',
  title: 'Exchanges open',
  help: 'Exchanges whose response towards the client is not over.',
  labels: ['kind'],
  unit: 'count',
}
const CLOSED: CounterAbout = {
  name: 'exchanges_closed_total',
  type: 'counter',
  title: 'Exchanges closed, by cause',
  help: 'Exchanges whose response is over, by what was answered, what ended it, and how the client got the ending.',
  labels: ['kind', 'answer', 'cause', 'ending'],
  unit: 'count',
}

export const exchangesFamily: Family = {
  about: [OPENED, OPEN, CLOSED],
  start(kit) {
    const opened = kit.counter(OPENED)
    const closed = kit.counter(CLOSED)
    const openOf = new Map(KINDS.map((kind) => [kind, 0]))
    for (const kind of KINDS) opened.touch({ kind })
    kit.gaugeReadAtScrape(OPEN, () => [...openOf].map(([kind, count]) => [{ kind }, count]))
    return {
      causes({ kinds }) {
        for (const close of possibleCloses(kinds)) closed.touch(close)
      },
      moment({ kind }, moment) {
        if (moment.is !== 'began') return
        opened.inc({ kind })
        openOf.set(kind, (openOf.get(kind) ?? 0) + 1)
      },
      fact({ kind, answer, isUnderstood, closedAtMs }, fact) {
        if (fact.kind !== 'closed' || closedAtMs !== fact.atMs) return
        closed.inc({ kind, answer, cause: fact.cause.kind, ending: fact.ending })
        // One that closed before it said what it asks was never counted as open.
        if (isUnderstood) openOf.set(kind, (openOf.get(kind) ?? 0) - 1)
        else opened.inc({ kind })
      },
    }
  },
}
