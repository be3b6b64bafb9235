import { vi } from 'vitest'

// All test files run in one process, so that libraries load only once. `vi.resetModules` makes each test file load the
// service's own modules again, as a new Lambda container does. The environment variables return to their values at the
// process's start.
declare global {
  var environmentAtStart: NodeJS.ProcessEnv | undefined
}
const environment = globalThis.environmentAtStart ?? { ...process.env }
globalThis.environmentAtStart = environment
for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
Object.assign(process.env, environment)
vi.resetModules()
