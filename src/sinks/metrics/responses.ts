/** Response heads as clients got them. */
import type { CounterAbout } from './about.ts'
import type { Family } from './family.ts'
import { perSecond } from './promql.ts'

const RESPONSES: CounterAbout = {
  name: 'responses_total',
  type: 'counter',
  title: 'Responses, by status',
  help: 'Response heads sent to clients: the server’s own, and those made here in its place.',
  labels: ['code_class', 'origin'],
  unit: 'count',
}

const CLASS_OF = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx']
const CLASSES = ['2xx', '3xx', '4xx', '5xx']

export const responsesFamily: Family = {
  about: [RESPONSES],
  panels: [
    {
      id: 'responses',
      kind: 'lines',
      title: 'Responses, by status',
      description: 'Response heads that clients got, per second: the server’s own (upstream), and those made in its place (sidecar).',
      unit: 'cps',
      queries: [{ expr: perSecond(RESPONSES, { by: ['code_class', 'origin'] }), legend: '{{code_class}} {{origin}}' }],
      isStacked: true,
    },
  ],
  start(kit) {
    const responses = kit.counter(RESPONSES)
    for (const code_class of CLASSES) {
      for (const origin of ['upstream', 'sidecar']) responses.touch({ code_class, origin })
    }
    responses.touch({ code_class: '1xx', origin: 'upstream' }) // WebSocket sessions
    return {
      facts: {
        head(_, { at, status, origin }) {
          if (at === 'client') responses.count(CLASS_OF[Math.floor(status / 100)] ?? `${Math.floor(status / 100)}xx`, origin)
        },
      },
    }
  },
}
