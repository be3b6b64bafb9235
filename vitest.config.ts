import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Where processes are started: these files take far longer than their size says. */
const SLOW = /\/test\/(scripts|infra|sandbox\/start|vault-guides)/

/** Begins with what takes long, so that no core is idle at the end. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => Number(SLOW.test(b.moduleId)) - Number(SLOW.test(a.moduleId)))
  }
}

const BROWSER = 'test/**/*.browser.test.ts'

export default defineConfig({
  test: {
    isolate: false,
    setupFiles: ['test/support/anew.ts', 'test/support/password-cost.ts', 'test/support/secrets-in-logs.ts'],
    env: { TZ: 'UTC', POWERTOOLS_DEV: 'true' },
    // What is waited for comes in a moment, on a machine under load later.
    expect: { requireAssertions: true, poll: { timeout: 20_000 } },
    clearMocks: true,
    // The tests wait for their chains as long as they compute: three files at a time keep two cores busy.
    maxWorkers: 3,
    sequence: { sequencer: SlowFirst },
    silent: 'passed-only',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'service', include: ['test/**/*.test.ts'], exclude: [BROWSER] } },
      {
        extends: true,
        // A page reads anew each few seconds, on a busy machine later.
        test: { name: 'browser', include: [BROWSER], expect: { poll: { timeout: 40_000 } }, testTimeout: 120_000 },
      },
    ],
  },
})
