import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Its Chromium has twice not ended beside the others: it is run by itself, with VIEWER=real or VIEWER=fake.
    // biome-ignore lint/style/noProcessEnv: vitest has no other way to be told.
    exclude: process.env['VIEWER'] ? [] : ['test/sandbox/reference.test.ts'],
    isolate: false,
    setupFiles: ['test/support/anew.ts', 'test/support/password-cost.ts', 'test/support/secrets-in-logs.ts'],
    env: { TZ: 'UTC', POWERTOOLS_DEV: 'true' },
    expect: { requireAssertions: true },
    clearMocks: true,
    // The tests wait for their chains as long as they compute: three files at a time keep two cores busy.
    maxWorkers: 3,
    silent: 'passed-only',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
