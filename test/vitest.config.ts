/** How the tests run: most files two at a time; then, one after the other, those that hold real clocks against each other. */
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
