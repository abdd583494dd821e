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
  'faults2.wire-match':
    'Every key of `when` chooses exchanges on the wire, from headers or body; what cannot be read is skipped and passes',
  'faults2.wire-chance':
    'One seed gives the same calls the same fates over real sockets, and at probability 0 every byte and time is as without the fault',
  'faults2.wire-safety': 'Exempt methods, affectedMax and cutsPerMinuteMax hold over real sockets, for hops too',
  'faults2.wire-order': '`at` places a fault on either side of the hops, announce names it, shadow only tells',
  'faults2.release-held': 'DELETE, disabling, expiry and stop let open exchanges go on: what was held, in order, then all else at once',
  'faults2.release-cut': 'Taken away, a pending cut lapses and what was cut stays cut',
  'faults2.release-hidden': 'Taken away, a fault that hid a leaving tells the server then',
  'faults2.release-path': "The API's path leaves open exchanges when it ends or is reset, and the file's stays",
  'faults2.change-later': 'Additions, edits, paths and reloads reach exchanges opened later only',
  'faults2.stop-live': 'stop reaches waiting and new exchanges and outlives reloads until resume',
  'faults2.cut-live': 'cut ends the open streams that match every key, by the ending asked for, and no other',
  'faults2.stop-under-load': 'Under load stop has reached every open stream when it returns; held bytes leave, nothing is lost or ended',
  'faults2.for-under-load': '`for` ends a fault on time under load, and open streams go on',
  'faults2.concurrent-edits': 'Edits at once end in one of the orders; each exchange has one ending',
} as const
