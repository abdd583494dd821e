/** What the data path promises about endings: who closed, when and how, on the wire and in what is told. */
export const endingsRequirements = {
  'endings.matrix': 'who ends × how × when: each cell is seen on the wire as it was meant, and told once with its cause and ending',
  'endings.server-502': 'a server that fails before its answer is a 502 that says why in one line: refused, closed, reset, no HTTP, reused',
  'endings.server-mid': 'a server that dies in mid-answer is never turned into a well-formed end, and a whole answer never into a loss',
  'endings.eof': 'an answer delimited by the end of its connection stays so, and a reset inside it is a loss',
  'endings.survives': 'late errors, aborts and destroyed sockets on either side never end the process, and are told once',
  'endings.leaving-at-once':
    'the client’s leaving reaches the server at once: silent, in mid-stream, in mid-request, behind an unread backlog',
  'endings.half-close': 'a half-close is leaving, unless a hop tolerates it: then the whole answer still arrives',
  'endings.cut-finishes': 'a cut finishes though the client neither reads nor answers it, and the server is told at once',
  'endings.cut-fin': 'a cut by FIN: all bytes before it, no terminator, no reset for a client that is still sending',
  'endings.cut-rst': 'a cut by RST is a reset connection to the client',
  'endings.cut-clean': 'a clean cut ends well-formed and the connection serves on; where that is impossible it is a FIN and told as one',
  'endings.upstream-break': 'the server sees FIN or RST as asked, also with bytes unread in either direction',
  'endings.silent': 'a silent cut sends nothing, and the next packet meets a reset',
  'endings.order': 'an order from outside cuts the open exchanges it names, and no others',
  'pipelining.turns': 'a pipelined request is dialled, counted and timed only when the answer before it is whole',
  'pipelining.limit': 'sixteen pipelined requests wait; one more is refused in its turn and told why',
  'pipelining.left': 'a client that leaves with requests waiting opens none of them',
  'pipelining.cut': 'what waits behind a cut that closes the connection is never opened; behind a clean end it has its turn',
  'pipelining.junk': 'bytes that are no request behind one under way close that client’s connection and nothing else',
} as const
