/** What faults promise on the wire, under control, in scenarios and against misuse. */

export const faults2Requirements = {
  'faults2.wire-timers': 'On the wire timer faults end both sides as asked, at their time, and the record names cause and fault',
  'faults2.wire-cut': 'On the wire a cut lets exactly what was asked for through and ends both sides as asked',
  'faults2.wire-respond': 'respond is answered without a connection to the server, and the client keeps its own',
  'faults2.wire-accept': 'refuse and stall: accept act on the connection before any request is read',
  'faults2.wire-hold': 'buffer holds and releases on the wire as its mode says, and loses nothing',
  'faults2.wire-stall': 'A stall reads neither side and ends neither; at its end or removal all goes on in order',
  'faults2.wire-hide': 'half-open tells the server late, hide-disconnect never, and both read it meanwhile',
  'faults2.wire-latency': 'latency shifts request, headers, events or result, and nothing overtakes',
  'faults2.wire-pace': 'bandwidth and slice pace every byte and lose none, of the request too',
  'faults2.wire-events': 'drop, duplicate, delay and malform act on whole events as sent, however the wire splits them',
  'faults2.wire-headers': 'headers edits reach server and client; other headers stay as they came',
  'faults2.wire-encoded': 'An encoded body passes byte for byte and the reason is noted; a JSON body is handled or refused with a reason',
} as const
