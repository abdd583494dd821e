/** How the tests run: most files two at a time, some of them on both engines; then, one after the other, those that hold real clocks against each other. */
import { defineConfig } from 'vitest/config'

/** They compare measured times of real processes: a neighbour's load would be measured with them. */
const CLOCKED = [
  'test/peer/**/*.test.ts',
  'test/wire/accuracy-real.test.ts',
  'test/wire/diagnose-reality.test.ts',
  'test/wire/predict-reality.test.ts',
  'test/wire/work-otlp.test.ts',
  'test/wire/work-sidecar.test.ts',
]
/** Those that pin what the server's side does run a second time, unchanged, on the other engine. */
const ON_BOTH_ENGINES = [
  'test/wire/transparency-*.test.ts',
  'test/wire/endings-*.test.ts',
  'test/wire/hostile*.test.ts',
  'test/wire/backpressure*.test.ts',
  'test/wire/websocket*.test.ts',
  'test/wire/{catch-up,pool,retry,pipelining,connect-limit,stopping,drain,notices,held-then-lost,trace-in-body,passed}.test.ts',
]
const shared = { testTimeout: 120_000, hookTimeout: 120_000 }

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    maxWorkers: 2,
    reporters: ['default', './test/support/closing-line.ts'],
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: ['test/long/**', 'test/bench/**', ...CLOCKED],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'direct engine',
          include: ON_BOTH_ENGINES,
          env: { IMPATIENT_TEST_UPSTREAM_ENGINE: 'direct' },
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'alone',
          include: CLOCKED,
          fileParallelism: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
