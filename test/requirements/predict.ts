/** What the judges promise: shadow, predict, diagnose, the comparison of hops and the page of presets. */
export const shadowRequirements = {
  'shadow.tells-as-acts': 'A shadow says the cause and the time of the cut that the same hop or fault would have made',
  'shadow.once': 'A shadow speaks once, and never after the exchange ended by others',
  'shadow.own-cause': 'A shadow never tells of an ending that came from elsewhere',
  'shadow.bounded': 'A shadow of a hop that buffers holds little, and its limits are judged all the same',
} as const
