/** How the tests run: files in parallel, a few at a time; the slow peers get time; a plain closing line for CI. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/long/**', 'test/bench/**'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    reporters: ['default', './test/support/closing-line.ts'],
  },
})
