/** What the judges promise: shadow, predict, diagnose, the comparison of hops and the page of presets. */
export const shadowRequirements = {
  'shadow.tells-as-acts': 'A shadow says the cause and the time of the cut that the same hop or fault would have made',
  'shadow.once': 'A shadow speaks once, and never after the exchange ended by others',
  'shadow.own-cause': 'A shadow never tells of an ending that came from elsewhere',
  'shadow.bounded': 'A shadow of a hop that buffers holds little, and its limits are judged all the same',
} as const

export const predictRequirements = {
  'predict.verdicts': 'predict says survives or cut, when, by which limit of which hop, what the client sees and when the server is told',
  'predict.unknown': 'Past the end of a recording predict says unknown, unless draining or work tells more',
  'predict.remedy': 'Each remedy predict offers was tried out and saves the call',
  'predict.timeline': "A record's timeline holds what prediction needs: framing, bytes, parts of slow events",
  'predict.fast': '10,000 calls against 40 hops in seconds',
  'predict.shortcut': 'The shortcut for harmless limits says what a replay says',
  'predict.events-file': 'A line that is no record is told with file and line; an unfinished last line is left out',
  'predict.reality': 'A call recorded without hops, predicted, then really run with the hop agrees on who cuts, when, and what was sent',
  'predict.cli': 'predict prints a table or JSON, takes paths as --hop or --config, and --fail-on for CI',
  'predict.progress-bar': 'A progress bar shows on a terminal only',
} as const

export const diagnoseRequirements = {
  'diagnose.idle-or-total': 'Foreign closes are told apart as idle or total by what hardly varies, silence or time since the request',
  'diagnose.names': 'The presets with that kind and value are named, and those as near are ruled out with the reason',
  'diagnose.too-few': 'Under five closes it says it cannot tell',
  'diagnose.people': 'Closes that have no time in common are no limit',
  'diagnose.drops': 'A hop that drops without a word shows in closes at the first write after a long silence',
  'diagnose.behind': 'A hop behind the sidecar is known by its closes and by its answers',
  'diagnose.bounded': 'However many calls come, the memory for it is bounded',
  'diagnose.summary': 'Ctrl-C prints the diagnosis of foreign closes',
  'diagnose.reality': 'Each limit of each preset, really played in front of the sidecar, is recognised from the records alone',
  'diagnose.cli': 'diagnose --events prints a line a limit, or JSON',
} as const

export const compareRequirements = {
  'compare.fields': 'hops compare A B tells field by field, in plain words, where two hops differ and how each is known',
  'compare.page': 'config/hops/README.md has every preset and is the page the files make',
  'compare.reported': 'What a preset knows by report only is said, in hops show and on the page',
} as const
