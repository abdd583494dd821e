/** What faults promise. */

export const faultsRequirements = {
  'faults.schemas':
    'Every fault of the list takes its documented form; a wrong one is refused in one line that names the place and what was expected',
  'faults.timers':
    'idle-timeout, max-duration and header-timeout cut as a hop of that limit would, with their own cause and the fault named',
  'faults.buffer': 'buffer holds the response in full, by pages, by time, one event behind, or as a compressor',
  'faults.cut-places':
    'cut falls after a time, bytes, events, before the result or the request, inside an event, a JSON body or a character',
  'faults.cut-clean': 'A clean cut of a body that cannot end early becomes fin, and the cause says so',
  'faults.stall': 'stall reads neither side from the headers, the body or the next request on; with `for` it ends, in order',
  'faults.half-open': 'half-open and hide-disconnect keep the leaving from the server, for a time or for good',
  'faults.latency': 'latency delays request, headers, events or the result by a distribution; order is kept and the end waits its turn',
  'faults.bandwidth': 'bandwidth never lets more bytes through than its rate, and loses none; slice sends parts with pauses',
  'faults.respond': "respond answers in the server's place: status, headers, html, json, none or a text",
  'faults.events': 'drop, duplicate, delay and malform act on whole events, byte for byte, at any chunking',
  'faults.encoded': 'On encoded bodies event faults say that they cannot see events, and change nothing',
  'faults.json-bodies': 'JSON bodies are handled where the fault makes sense, and left alone with a reason where not',
  'faults.headers': 'headers sets and removes on request and response, keeps the rest as it came, and refuses what frames the message',
  'faults.bounded': 'Queues are bounded: a full one holds its source, an over-long event passes unjudged, and held bytes are told',
  'faults.matching': '`when` is ANDed over method, tool, headers, path, revision, kind, client, connection and nth; globs in texts',
  'faults.chance': 'The same calls meet the same fates with one seed, in any order and whatever other faults there are',
  'faults.probability-0': 'At probability 0 nothing whatever changes: no seat, no held request, no count',
  'faults.exempt': 'Exempt methods are left alone, and that is said',
  'faults.caps': 'affectedMax caps the open exchanges affected (one always allowed), cutsPerMinuteMax the cuts, after the draw',
  'faults.expiry': 'A fault past its end decides nothing, by number',
  'faults.needs-body': 'A request is held for its body only while an enabled fault needs it; beyond 1 MiB or encoded: no match, skipped',
  'faults.connection-level': 'refuse and stall: accept act on accepted connections, by number and chance only',
  'faults.announce': 'announce adds x-impatient-fault where a head is still to be sent, and only where the fault acts',
  'faults.fired-once': 'A fault says that it acted once per exchange, when it acts; rules that never matched are visible',
  'faults.control':
    "Faults are added, changed and removed by API; those of the API win over the file's of the same name and survive a reload",
  'faults.ends':
    'for counts from when it was added or loaded, until is absolute; at its end a fault or path is gone, from open exchanges too, and stays gone',
  'faults.require-until': 'With requireUntil a fault without an end is refused',
  'faults.stop': 'stop leaves nothing in force, for open exchanges too, through reloads, until resume',
  'faults.reload': 'A reload keeps what reads as before, its end and its counts, and touches no open exchange',
  'faults.cut-filter': 'An operator cuts the open streams that match every key given, or says all',
} as const
