/** Presets of hops beside the real programs: the same scripted server and raw client, the same limits, and what each side saw. */
import { afterAll, describe, expect } from 'vitest'
import type { Verdict } from '../support/hop-peer-look.ts'
import { lookAt } from '../support/hop-peer-look.ts'
import { scenarios } from '../support/hop-peer-scenarios.ts'
import { comparisonTable } from '../support/hop-peer-table.ts'
import { peerTest } from '../support/peers.ts'
import { proxyPeers } from '../support/proxy-list.ts'

const columns = new Map<string, readonly Verdict[]>(proxyPeers.map(({ name }) => [name, []]))

describe('a preset does what the real program does', () => {
  for (const peer of proxyPeers)
    peerTest(peer.peer, `${peer.name} [peer.hops-as-real] [peer.hops-known-differences]`, async (binary) => {
      const verdicts = await lookAt(binary, peer, scenarios)
      columns.set(peer.name, verdicts)
      expect(verdicts.flatMap(({ complaints }) => complaints)).toEqual([])
    })
})

afterAll(() => {
  process.stdout.write(
    `\n${comparisonTable(
      columns,
      scenarios.map(({ name }) => name),
    )}\n`,
  )
})
