/** The flags of `run` as a table: the command line's help, the environment's names and completion all come from here. */

export interface Flag {
  /** Without the dashes; `IMPATIENT_` + upper case + underscores is its mirror in the environment. */
  readonly name: string
  /** What follows it, as help shows it. */
  readonly takes: string
  readonly says: string
  /** May be repeated, and takes a comma list. */
  readonly isList?: true
  /** For completion. */
  readonly choices?: readonly string[]
}

export const MODES = ['act', 'shadow'] as const
export const ENDINGS = ['fin', 'rst', 'clean'] as const
export const AFTER_CUTS = ['hang-up', 'drain'] as const
export const INJECTS = ['header', 'meta', 'both', 'none'] as const
export const UPSTREAM_ENGINES = ['http-proxy', 'direct'] as const
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export const LOG_FORMATS = ['text', 'json'] as const

const choice = (name: string, choices: readonly string[], says: string): Flag => ({ name, takes: choices.join('|'), says, choices })

export const RUN_FLAGS: readonly Flag[] = [
  { name: 'upstream', takes: 'URL', says: "The MCP server's origin; the client's path is passed on" },
  choice('upstream-engine', UPSTREAM_ENGINES, 'What carries requests to the server (default http-proxy); direct costs less CPU'),
  { name: 'listen', takes: 'ADDR', says: 'Where clients connect (default 127.0.0.1:8080)' },
  {
    name: 'admin',
    takes: 'ADDR',
    says: 'API and metrics for you (default 127.0.0.1:8475); beyond loopback it needs IMPATIENT_ADMIN_TOKEN',
  },
  { name: 'metrics-listen', takes: 'ADDR', says: 'Metrics and probes alone, for a scraper (off unless set)' },
  { name: 'config', takes: 'FILE', says: 'Configuration, YAML or JSON' },
  {
    name: 'hop',
    takes: 'NAME[:limit.after=D]',
    says: "A hop of the path, client side first; repeatable; replaces the file's path",
    isList: true,
  },
  { name: 'header-timeout', takes: 'D', says: 'Cut when no response head came for so long' },
  { name: 'idle-timeout', takes: 'D', says: 'Cut when no response byte came for so long' },
  { name: 'max-duration', takes: 'D', says: 'Cut so long after the request' },
  choice('ending', ENDINGS, 'How these three cut once the headers went (default fin)'),
  { name: 'buffer', takes: 'full|SIZE|D|one-behind', says: 'Hold the response back: whole, by size, by time, or one event behind' },
  choice('after-cut', AFTER_CUTS, 'What the server sees of a cut (default hang-up); drain keeps reading, to measure'),
  choice('mode', MODES, 'shadow decides and counts, and cuts nothing (default act)'),
  { name: 'grace', takes: 'D', says: 'Work going on for longer than this after the close is orphaned (default 2s)' },
  { name: 'otlp', takes: 'ADDR|none', says: 'Where servers report their work, OTLP/HTTP (default 127.0.0.1:4318)' },
  { name: 'otlp-grpc', takes: 'ADDR|none', says: 'The same, OTLP/gRPC (default 127.0.0.1:4317)' },
  choice('inject', INJECTS, 'How the trace context reaches the server (default header)'),
  { name: 'events', takes: 'FILE|-', says: 'Write one JSON line per call; - is stdout' },
  { name: 'events-max', takes: 'SIZE', says: 'Stop writing events at this size (default 100MiB)' },
  { name: 'scenario', takes: 'FILE', says: 'Play this scenario, then end: 0 where its expectations held, else 1' },
  { name: 'seed', takes: 'N', says: 'The seed of all chance; the same seed, the same fates (default: drawn and printed)' },
  { name: 'drain', takes: 'D', says: 'How long open calls may go on after Ctrl-C or SIGTERM (default 20s)' },
  choice('log-level', LOG_LEVELS, 'How much to log (default info)'),
  choice('log-format', LOG_FORMATS, 'How to log (default text)'),
]

export const environmentName = (flag: string): string => `IMPATIENT_${flag.toUpperCase().replaceAll('-', '_')}`

/** Read where the admin token is needed: a flag for it would show in the list of processes. */
export const TOKEN_VARIABLE = 'IMPATIENT_ADMIN_TOKEN'
