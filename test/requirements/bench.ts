/** What the benchmark and the hot path promise. */
export const benchRequirements = {
  'bench.median':
    'figures are medians over repetitions; those measured on a machine busy with others are left out where two quiet ones remain',
  'bench.paired-ratio': 'a ratio is the median of the ratios inside each repetition, so that a slow minute does not count for one side',
  'bench.interleaved': 'every repetition measures every target once, and targets change places from one to the next',
  'bench.idle-capable': 'a target without an idle limit is not asked to cut',
  'bench.gate': 'the gate passes only where every goal was measured and met, and nothing failed',
  'bench.goals': 'each goal is judged by the figures it names: at most or at least its bound',
  'bench.page': 'the page names machine, versions, load, command and whether the run was a quick one, and shows what failed',
  'bench.timers': 'one timer per exchange or fewer: none per chunk, per event or per hop',
  'bench.no-write-of-ours': 'with no seat on the line each chunk goes out in one write, as it came',
  'bench.no-json-parse': 'events pass with ledger and metrics on without a JSON.parse, and without a look inside where nobody needs it',
  'bench.one-look': 'what an event says is read once, however many ask',
  'bench.tallies': 'what is counted between two scrapes shows in the next, in sums, counts and buckets, and once',
  'bench.bag': 'what comes and goes by the thousand is kept while it stays, found, counted and listed, and no longer',
  'bench.chunk-lane':
    'whole chunks of an answer go past the parser, and what is told of it stays what the parser alone would tell, however it comes',
  'bench.empty-line': 'the line where nobody sits sends, holds and tells what a line with no plans does, whatever it is told',
  'bench.options': 'an unknown option or a wrong value begins no run and is told; --help lists what may be asked',
  'bench.timeline': 'a timeline lists all that was told in order, messages too, up to its limits, and says where it was cut off',
  'bench.bytes-first':
    'the books are kept after the bytes they tell of are on their way, in the order told; whoever reads them, by scrape, API or work report, is told all that was told before',
  'bench.read-later':
    'where nobody sits and no trace is named a request goes on before anybody reads what it asks, which is known all the same',
  'bench.passed': 'bytes that come and go at once are told and counted in one, and the record and the metrics say the same as of two',
  'bench.record-rows': 'a settled record is kept outside the heap and shown as it was, every key of it',
  'bench.frozen-keys':
    'settled calls that nobody asked about are kept as bytes, 10,000 at most, and the first who asks finds them as settled',
  'bench.heap-room': 'what outlives two collections of the young finds room that the start has made',
  'bench.young-garbage': 'connections whose client left are collected with the young: they do not wait for a full collection',
  'bench.young-facts':
    'what is told of a burst of events is collected with the young: no more than a thousand facts wait for the end of a poll',
  'bench.oldest-first': 'what is let go is the oldest, also after many came and went',
} as const
