/** Prints `N passed, N failed, N skipped` alone on the last line, for readers that know no vitest. */
import type { Reporter, TestModule } from 'vitest/node'

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      if (module.errors().length > 0) count.failed += 1
      for (const { result } of [...module.children.allTests()].map((test) => ({ result: test.result() }))) count[result.state] += 1
    }
    process.stdout.write(`\n${count.passed} passed, ${count.failed + errors.length} failed, ${count.skipped + count.pending} skipped\n`)
  }
}
