/** Which engine the tests of the data path run on; the project `direct` of vitest.config.ts runs them a second time. */
import type { UpstreamEngine } from '../../src/config/snapshot.ts'

export const testedEngine: UpstreamEngine = process.env['IMPATIENT_TEST_UPSTREAM_ENGINE'] === 'direct' ? 'direct' : 'http-proxy'
