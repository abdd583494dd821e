/** Runs that take minutes: `npx vitest run --config test/long/vitest.config.ts`. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: { include: ['test/long/**/*.test.ts'], testTimeout: 300_000 },
})
