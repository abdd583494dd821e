/** The two forms of the server's side: to everybody else they are the same. */
export const engineRequirements = {
  'engine.choice': '--upstream-engine direct carries requests on bare sockets; without it they go by way of http-proxy',
  'engine.parser': 'the direct engine reads answers as strictly as Node, and the same however their bytes are cut',
  'engine.one-write': 'a small request goes to the server in one write on the direct engine, its head ahead of a slow body',
  'engine.pool': 'the direct engine uses a connection again only when its request is out and nothing came behind its answer',
  'engine.paused':
    'while the direct engine is held back it reads a little on, and tells the loss of the server at once, behind what it read',
} as const
