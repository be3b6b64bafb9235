import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { CpuReporter } from './test/support/cpu-reporter.ts'
import { KINDS } from './test/support/kinds.ts'

/** Files that start processes take longer than their size suggests. */
const SLOW = /\/test\/(infra\/template|sandbox\/start|vault-guides)/

/** Starts with the slow files, so that no core is idle at the end. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => Number(SLOW.test(b.moduleId)) - Number(SLOW.test(a.moduleId)))
  }
}

const endingOf = (kind: string) => `test/**/*.${kind}.test.ts`

const timesOf = (kind: string) => {
  // A page polls every few seconds, and later on a busy machine.
  if (kind === 'browser') return { expect: { poll: { timeout: 40_000 } }, testTimeout: 120_000, retry: 1 }
  // Real nodes keep the wall clock: a quota window may begin, or a hedged request be sent, between two counted requests.
  return kind === 'deep' ? { retry: 2 } : {}
}

export default defineConfig({
  test: {
    isolate: false,
    setupFiles: ['anew', 'cpu', 'runs', 'functions-database', 'password-cost', 'secrets-in-logs'].map(
      (name) => `test/support/${name}.ts`,
    ),
    env: { TZ: 'UTC', POWERTOOLS_DEV: 'true' },
    // Polled conditions usually hold soon; a busy machine needs longer.
    expect: { requireAssertions: true, poll: { timeout: 20_000 } },
    clearMocks: true,
    // Tests wait for their chains half of the time: three files keep two cores busy.
    maxWorkers: 3,
    sequence: { sequencer: SlowFirst },
    silent: 'passed-only',
    reporters: ['default', new CpuReporter()],
    // No line for each test that is a little slow.
    slowTestThreshold: 10_000,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...KINDS.map(endingOf)],
        },
      },
      ...KINDS.map((kind) => ({
        extends: true as const,
        test: { name: kind, include: [endingOf(kind)], ...timesOf(kind) },
      })),
    ],
  },
})
