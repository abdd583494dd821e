/** What the ledger, the journal and the sinks promise. */
export const ledgerRequirements = {
  'ledger.raw-ids': 'JSON-RPC ids and tokens are told as raw JSON text: 0, strings, numbers above 2^53, last in the object or not',
  'ledger.headers-decide': 'In 2026-07-28 the headers tell kind, method and tool before the body comes',
  'ledger.record-shape': 'A record has the contract’s keys in the contract’s order',
  'ledger.result-by-raw-id':
    'The final response is the result or error whose id is the request’s, seen at the server and sent at the client',
  'ledger.json-sent-whole': 'A JSON result is sent only when the whole answer left the client’s edge',
  'ledger.batch-apart': 'The calls of a batch are told apart: records, progress, results, reports',
  'ledger.silence': 'Silence is that of response bytes as they arrive, counted from the request’s last byte',
  'ledger.timeline-bound': 'A timeline has 2,000 entries at most, then says so',
  'ledger.known-truths': 'Known work and a known close give the known orphan, stop or finish',
  'ledger.violation-needs-told': 'Orphan work is no violation while the server was not told',
  'ledger.verdict-by-revision': 'A close cancels in 2026-07-28 only; a notification in the session revisions only',
  'ledger.drain-apart': 'What draining shows is never mixed with measured work',
  'ledger.settling': 'A call with its result and no source alive settles at once; else it waits for its report',
  'ledger.reports-judged': 'Starts more than 250 ms before the opening and ends more than 5 s ahead are refused',
  'journal.waits-then-unobserved': 'A call waits `work.wait` for its report, then is unobserved',
  'journal.settles-on-ends': 'Work ends with the latest end within 2 s of the first; later reports are duplicate',
  'journal.pending-bound': 'At most so many calls wait; beyond, the one due next is settled and says why',
  'journal.joins-cancellations':
    'A notifications/cancelled of the same session abandons the call it names; the server is told when it had it',
  'journal.sink-throws': 'A sink that throws is told once and touches neither the other sinks nor the exchange',
} as const
