/** `cut`: ends open streams of a running sidecar now. */
import { ADMIN_FLAG, askAdmin } from './admin-client.ts'
import type { Command } from './command.ts'
import { PRODUCT } from './product.ts'

/** The flag, and the key of the API it stands for. */
const FILTERS = [
  { name: 'id', takes: 'ID', says: 'That one, as `calls` names it', key: 'id' },
  { name: 'tool', takes: 'GLOB', says: 'Calls of these tools', key: 'tool' },
  { name: 'method', takes: 'GLOB', says: 'These JSON-RPC methods', key: 'method' },
  { name: 'kind', takes: 'call|subscription|notification|get_sse|websocket|other', says: 'This kind', key: 'kind' },
  { name: 'client', takes: 'GLOB', says: 'Clients that name themselves so', key: 'client' },
  { name: 'revision', takes: 'GLOB', says: 'These protocol revisions', key: 'revision' },
  { name: 'older-than', takes: 'D', says: 'Open for at least so long', key: 'olderThan' },
  { name: 'ending', takes: 'fin|rst', says: 'How (default fin)', key: 'ending' },
] as const

export const cutCommand: Command = {
  name: 'cut',
  says: 'Cut the open streams that match every filter given, now; or all of them',
  flags: [...FILTERS.map(({ name, takes, says }) => ({ name, takes, says })), ADMIN_FLAG],
  switches: [{ name: 'all', says: 'Whatever is open' }],
  examples: [
    ["cut --tool 'search_*' --older-than 30s", 'long searches'],
    ['cut --all --ending rst', 'everything, as a crash would'],
  ],
  async run(args, world) {
    const body: Record<string, unknown> = args.switches.has('all') ? { all: true } : {}
    for (const { name, key } of FILTERS) {
      const typed = args.flags[name]
      if (typed !== undefined && typeof typed !== 'string') {
        world.err.print(`${PRODUCT}: --${name}: expected one value: give it once`)
        return 2
      }
      if (typed !== undefined) body[key] = typed
    }
    const asked = await askAdmin('/api/v1/cut', args, world, { method: 'POST', body })
    if ('code' in asked) return asked.code
    const { json } = asked
    const count = typeof json === 'object' && json !== null && 'cut' in json ? Number(json.cut) : 0
    world.out.print(count === 0 ? 'No open stream matches.' : `Cut ${count} open ${count === 1 ? 'stream' : 'streams'}.`)
    return 0
  },
}
