/** What the boards, rules and files around the metrics promise. */
export const boardsRequirements = {
  'boards.no-drift': 'the committed boards are what the panels beside the metrics say',
  'boards.schema': 'each board is valid by a JSON Schema of Grafana’s own Dashboard type',
  'boards.promql': 'every query of a panel, a variable or an annotation is PromQL by Prometheus’ own grammar',
  'boards.lint': 'each board keeps the rules of Grafana’s dashboard linter',
  'boards.real-metrics': 'no query names a metric or a label that does not exist, and every metric is on a board',
  'boards.layout': 'panels have ids and places in the grid and do not overlap',
  'boards.linked': 'the boards link to each other by tag and keep the choices and the time',
  'boards.many-sidecars': 'no panel draws a line per instance or tool without a limit on how many',
} as const
