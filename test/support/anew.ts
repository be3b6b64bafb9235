import { vi } from 'vitest'

// Test files share a process, so that libraries are loaded once. Of our own modules each file has its own, like each
// container, and the environment is the one in which the tests were started.
declare global {
  var environmentAtStart: NodeJS.ProcessEnv | undefined
}
const environment = globalThis.environmentAtStart ?? { ...process.env }
globalThis.environmentAtStart = environment
for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
Object.assign(process.env, environment)
vi.resetModules()
