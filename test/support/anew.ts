import { vi } from 'vitest'

// Test files share a process, so that libraries load once. The service's own modules load again for each file, as in a new
// container, with the environment in which the tests started.
declare global {
  var environmentAtStart: NodeJS.ProcessEnv | undefined
}
const environment = globalThis.environmentAtStart ?? { ...process.env }
globalThis.environmentAtStart = environment
for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
Object.assign(process.env, environment)
vi.resetModules()
