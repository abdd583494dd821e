/** The official conformance suite, scenario by scenario: through the sidecar as direct. */
import { expect, test } from 'vitest'
import { failuresOf, runConformance } from '../support/conformance/run.ts'
import { startV1Everything } from '../support/conformance/v1-everything.ts'
import { startV2Everything } from '../support/conformance/v2-everything.ts'
import { startThrough } from '../support/mcp-through.ts'

/** The tasks extension has no server side in the SDK; the suite lists it without scoring. All else must pass, so that passing through can be seen. */
const isBeyondTheServer = (failure: string): boolean => failure.startsWith('tasks-')

test.each([
  ['2026-07-28', startV2Everything, 50],
  ['2025-11-25', startV1Everything, 33],
] as const)(
  'the server scenarios of %s give the same through as direct [peer.conformance]',
  { timeout: 120_000 },
  async (requirements, start, count) => {
    const [direct, through] = [await start(), await start()]
    const sidecar = await startThrough(through.origin)
    const [directly, throughIt] = await Promise.all([
      runConformance({ url: direct.url, requirements }),
      runConformance({ url: sidecar.url, requirements }),
    ])
    expect(directly.size).toBe(count)
    expect(failuresOf(directly).filter((failure) => !isBeyondTheServer(failure))).toEqual([])
    expect([...throughIt]).toEqual([...directly])
    expect(through.requests.length).toBeGreaterThan(count)
  },
)
