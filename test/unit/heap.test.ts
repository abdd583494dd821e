/** What the start does to V8's heap, asked of a process of its own. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const SAID = `
import { getHeapSpaceStatistics } from 'node:v8'
import { collectStart, tuneHeap } from './src/cli/heap.ts'
const old = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')
tuneHeap()
const before = old()
collectStart()
const after = old()
console.log(JSON.stringify({ room: after.space_size - after.space_used_size, grown: after.space_used_size - before.space_used_size }))
`

test('the start leaves room in the old generation, and next to nothing in it [bench.heap-room]', () => {
  const args = ['--import', 'tsx', '--input-type=module', '-e', SAID]
  const { room, grown } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as { room: number; grown: number }
  expect(room).toBeGreaterThan(6 * 2 ** 20)
  expect(grown).toBeLessThan(2 * 2 ** 20)
})
