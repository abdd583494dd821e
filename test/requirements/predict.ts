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
  'predict.cli': 'predict prints a table or JSON, takes paths as --hop or --config, and --fail-on for CI',
  'predict.progress-bar': 'A progress bar shows on a terminal only',
} as const
