import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { CpuReporter } from './test/support/cpu-reporter.ts'
import { TEST_KINDS } from './test/support/kinds.ts'

/** Matches test files that start processes. They take longer than their size suggests. */
const SLOW = /\/test\/(infra\/template|sandbox\/start|vault-guides)/

/** Runs the slow files first, so that no core is idle at the end. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => Number(SLOW.test(b.moduleId)) - Number(SLOW.test(a.moduleId)))
  }
}

const endingOf = (kind: string) => `test/**/*.${kind}.test.ts`

/** Settings of all tests but unit tests. They use the real clock, and a busy machine slows their processes, chains and browsers down. */
const REAL_CLOCK = { expect: { poll: { timeout: 40_000 } }, testTimeout: 180_000, retry: 2 }

export default defineConfig({
  test: {
    isolate: false,
    setupFiles: ['anew', 'cpu', 'runs', 'functions-database', 'password-cost', 'secrets-in-logs'].map(
      (name) => `test/support/${name}.ts`,
    ),
    env: { TZ: 'UTC', POWERTOOLS_DEV: 'true' },
    expect: { requireAssertions: true },
    clearMocks: true,
    // Tests wait for their local chains half of the time, so three files keep two cores busy.
    maxWorkers: 3,
    sequence: { sequencer: SlowFirst },
    silent: 'passed-only',
    reporters: ['default', new CpuReporter()],
    // Milliseconds from which the reporter prints a line about a slow test.
    slowTestThreshold: 10_000,
    testTimeout: 60_000,
    hookTimeout: 180_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...TEST_KINDS.map(endingOf)],
        },
      },
      ...TEST_KINDS.map((kind) => ({
        extends: true as const,
        test: { name: kind, include: [endingOf(kind)], ...REAL_CLOCK },
      })),
    ],
  },
})
