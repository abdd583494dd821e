/** What is promised about the demo. */
export const demoRequirements = {
  'demo.two-tools':
    'The demo serves a tool that stops when its signal fires and one that works on, on the real SDK, and reports their work itself',
  'demo.table': 'The table says of each call who closed it, when, when its work ended, how long after the close, and the verdict',
  'demo.sentence':
    'The sentence "client gone at 2.0 s, server worked until 6.0 s: 4.0 s orphaned" comes from values of the record and from nothing else',
  'demo.plain-without-colour': 'Without colour the table carries the same words, aligned',
  'demo.six-calls':
    'Two tools, three runs each, through the real sidecar: who closed, and whether the work finished, stopped or was orphaned, from its records',
  'demo.serve': 'With --serve the demo says where its metrics and records are, and they answer until it is stopped',
  'demo.under-30s': 'npm start on an installed clone tells the whole story in under 30 s and exits 0',
  'demo.readme-commands': 'Every command the README shows is run by a test',
  'demo.readme-names': 'The README lists the commands there are, and names no metric or file that is not',
  'demo.cannot-start': 'A demo that cannot start says why in one line and gives 3',
} as const
