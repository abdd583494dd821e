/** Promises of the command line and the configuration. */
export const cliRequirements = {
  'cli.unknown-flag': 'An unknown flag is one line with a suggestion, and exit code 2.',
  'cli.unknown-command': 'An unknown command is one line with a suggestion, and exit code 2.',
  'cli.help-examples': 'Every command has --help with an example.',
  'cli.bad-duration': 'A bad duration is one line that names the flag, what was expected and what was given.',
  'cli.upstream-path': "A path in --upstream is an error that says the client's path is passed on.",
  'cli.port-taken': 'A configured port that is taken is one line and exit code 3.',
  'cli.bad-file': 'A bad file is a line per mistake, naming file, line, key, what was expected; exit code 2.',
  'cli.no-stack': 'What a user did wrong never shows a stack trace.',
  'cli.startup-block': 'Start-up prints one block: listening, upstream, admin, mode, path with the effective limits, faults.',
  'cli.effective-limit': 'The effective limit is the minimum over the path, with the hop that sets it, and the block says so.',
  'cli.summary':
    'Ctrl-C drains, says what it waits for, prints the summary and exits 0; a second one cuts what is open, a third ends at once.',
  'cli.events-stdout': 'With --events - stdout carries nothing but events.',
  'cli.validate': 'validate checks a file and names line and key.',
  'cli.schema': 'schema prints the draft-7 JSON Schema of the configuration; the committed copy is the same.',
  'cli.completion': 'completion prints a script, and it completes commands, flags, choices and hops.',
  'cli.hops': 'hops lists the presets with their limits; hops show tells one, with its confidence and sources.',
  'cli.calls': 'calls lists what a running sidecar saw; where none answers it is one line and exit code 3.',
  'cli.empty-flag': 'A list flag that is given nothing is one line that names it, and exit code 2.',
  'cli.calls-tell':
    'calls shows giving up by notification, what shadow would cut, work of tools alone, and how long a running orphan goes on.',
  'cli.package': 'npm pack carries the built command, the probe and the presets.',
  'cli.no-color': 'No colour where output is piped, or NO_COLOR is set.',
  'cli.json-stderr':
    'With --log-format json stderr holds JSON lines alone: text for people is on stdout, or in the log where stdout is the events.',
  'cli.system-words': 'What the system refuses is told with the flag, what was expected and the remedy.',
  'cli.log': 'The log is one line a message, as text or JSON, and keeps to its level.',
} as const

export const stopRequirements = {
  'stop.drain-route':
    'GET /drain answers when open calls are over or the time is up; the sidecar is not ready from then on and waits for SIGTERM.',
  'stop.waits-for-calls': 'A stop waits for calls and uploads; streams that only listen are cut at once, as shutdown.',
  'stop.hurry': 'A second signal cuts what is open at once; the summary is still printed.',
} as const

export const configRequirements = {
  'config.precedence': 'A flag wins over the environment, that over the file, that over the default.',
  'config.mirror': 'IMPATIENT_* variables mirror the flags; lists are split on commas.',
  'config.unknown-variable': 'Unknown IMPATIENT_* variables are ignored with one warning; Kubernetes service links silently.',
  'config.hop-replaces-path': "--hop replaces the file's path.",
  'config.custom-hop': 'The timer flags and --buffer append one custom hop, nearest the server.',
  'config.variables':
    'A variable named in a text as $ and braces is replaced from the environment; an unset one is an error that names it.',
  'config.admin-token': 'An admin port beyond loopback without a token is refused; in Kubernetes it is a warning.',
  'config.addresses': 'Addresses are host:port, :port or [::1]:port; port 0 lets the system choose.',
  'config.several-errors': 'All mistakes of a configuration are told at once.',
  'config.yaml-words':
    'What is no YAML is told in plain words with line and column; an alias that leads nowhere or without end never shows a stack trace.',
  'config.example': 'The example configuration is valid and can be run as it is.',
  'cli.span-matchers': 'work.match names spans that count as work: by an attribute and its value, or by a pattern of the name',
} as const
