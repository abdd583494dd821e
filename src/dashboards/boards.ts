/** What stands on each board, row by row: panels by their id, with their width of 24. The panels themselves live with their metrics. */

export interface Row {
  readonly title: string
  /** In grid units of about 38 pixels. */
  readonly height: number
  /** `[id, width]`, from left to right; at most 24 wide. */
  readonly panels: readonly (readonly [string, number])[]
}

export interface Board {
  /** Its file's name, and what links to it use. */
  readonly uid: string
  readonly title: string
  readonly description: string
  readonly annotations: readonly string[]
  readonly rows: readonly Row[]
}

const WORK: Board = {
  uid: 'impatient-hop-work',
  title: 'Impatient hop / Work against stream',
  description: 'What MCP servers went on doing after the stream was gone: for how long, of which tools, and who had ended the stream.',
  annotations: ['fault-on', 'scenario', 'config-read'],
  rows: [
    {
      title: 'In the time shown',
      height: 4,
      panels: [
        ['orphan-in-range', 5],
        ['orphaned-share', 5],
        ['orphans-running', 4],
        ['undelivered-in-range', 5],
        ['unobserved-share', 5],
      ],
    },
    {
      title: 'Work for nobody',
      height: 8,
      panels: [
        ['orphan-by-tool', 8],
        ['orphan-by-cause', 8],
        ['orphan-by-split', 8],
      ],
    },
    {
      title: 'How long it goes on',
      height: 8,
      panels: [
        ['work-after-close-heat', 8],
        ['work-after-close', 8],
        ['work-after-close-by-cause', 8],
      ],
    },
    {
      title: 'Whether it stops',
      height: 8,
      panels: [
        ['cancel-to-stop', 8],
        ['work-running', 8],
        ['violations', 8],
      ],
    },
    {
      title: 'What becomes of the work',
      height: 8,
      panels: [
        ['outcomes', 6],
        ['outcomes-by-tool', 6],
        ['outcomes-by-class', 6],
        ['duplicate-work', 6],
      ],
    },
    {
      title: 'Results and durations',
      height: 8,
      panels: [
        ['undelivered', 6],
        ['tool-results', 6],
        ['work-duration', 6],
        ['work-before-close', 6],
      ],
    },
    {
      title: 'How much of it is seen',
      height: 8,
      panels: [
        ['work-reports', 6],
        ['reports-pending', 6],
        ['unobserved-by-split', 6],
        ['outcomes-by-revision', 6],
      ],
    },
    {
      title: 'What draining shows, and what clients do after a cut',
      height: 7,
      panels: [
        ['drained', 6],
        ['retries', 6],
        ['notices', 6],
        ['receiver-up', 3],
        ['sidecars', 3],
      ],
    },
  ],
}

const STREAMS: Board = {
  uid: 'impatient-hop-streams',
  title: 'Impatient hop / Streams and hops',
  description: 'How streams end, who ends them, how long and how silent they are, and which limit of the path stands nearest.',
  annotations: ['fault-on', 'scenario', 'config-read'],
  rows: [
    {
      title: 'Now',
      height: 4,
      panels: [
        ['open-now', 5],
        ['cuts-in-range', 5],
        ['sidecars', 4],
        ['upstream-up', 5],
        ['config-taken', 5],
      ],
    },
    {
      title: 'Who ends streams',
      height: 8,
      panels: [
        ['closes-by-who', 8],
        ['closes-by-cause', 8],
        ['cuts', 8],
      ],
    },
    {
      title: 'The limits of the path',
      height: 8,
      panels: [
        ['limits-in-force', 8],
        ['silence-against-limit', 8],
        ['cuts-by-hop', 8],
      ],
    },
    {
      title: 'Silence and life',
      height: 8,
      panels: [
        ['silence-at-close', 8],
        ['silence-at-close-heat', 8],
        ['stream-duration-heat', 8],
      ],
    },
    {
      title: 'Waiting',
      height: 8,
      panels: [
        ['time-to-headers', 8],
        ['time-to-first-event', 8],
        ['responses', 8],
      ],
    },
    {
      title: 'What is held on the way',
      height: 8,
      panels: [
        ['held-bytes', 6],
        ['buffer-hold', 6],
        ['progress', 6],
        ['bytes', 6],
      ],
    },
    {
      title: 'Tools',
      height: 8,
      panels: [
        ['calls-by-cause', 12],
        ['calls-abandoned', 12],
      ],
    },
    {
      title: 'Traffic',
      height: 8,
      panels: [
        ['opened', 6],
        ['open', 6],
        ['open-by-split', 6],
        ['cuts-by-split', 6],
      ],
    },
    {
      title: 'The sidecars themselves',
      height: 7,
      panels: [
        ['closes-by-ending', 8],
        ['names-told-as-other', 8],
        ['versions', 8],
      ],
    },
  ],
}

const EXPERIMENT: Board = {
  uid: 'impatient-hop-experiment',
  title: 'Impatient hop / Experiment',
  description: 'What an experiment disturbs, and what it changed: faults fired against held back, and the same measures before it.',
  annotations: ['scenario', 'fault-on', 'config-read'],
  rows: [
    {
      title: 'In the time shown',
      height: 4,
      panels: [
        ['faults-fired', 6],
        ['faults-fired-share', 6],
        ['cuts-in-range', 6],
        ['orphan-in-range', 6],
      ],
    },
    {
      title: 'What disturbs',
      height: 8,
      panels: [
        ['disturbance', 6],
        ['scenario-phase', 6],
        ['faults-enabled', 6],
        ['faults-expire', 6],
      ],
    },
    {
      title: 'Fired and held back',
      height: 8,
      panels: [
        ['faults-injected', 6],
        ['fault-decisions', 6],
        ['fault-decisions-by-fault', 6],
        ['cuts-shadow', 6],
      ],
    },
    {
      title: 'Before and after',
      height: 8,
      panels: [
        ['orphan-before', 6],
        ['cuts-before', 6],
        ['closes-before', 6],
        ['stream-duration-before', 6],
      ],
    },
  ],
}

export const BOARDS: readonly Board[] = [WORK, STREAMS, EXPERIMENT]
