import { readdirSync, readFileSync } from 'node:fs'
import { afterAll } from 'vitest'

// Measures the CPU time of each test file: of this process, which runs one file after the other, and of those it started.
declare global {
  var cpuBefore: number | undefined
}
declare module 'vitest' {
  interface TaskMeta {
    /** CPU seconds that a file took, with the processes that it started. */
    cpuSeconds?: number
  }
}
/** Ticks of a second, by which Linux counts the time of processes. */
const TICKS = 100

globalThis.cpuBefore ??= cpuSeconds()

// biome-ignore lint/correctness/noEmptyPattern: vitest reads a hook's needs from this pattern.
afterAll(({}, file) => {
  const now = cpuSeconds()
  file.meta.cpuSeconds = now - (globalThis.cpuBefore ?? now)
  globalThis.cpuBefore = now
})

/** CPU seconds of this process and of those it started so far; of this process only where the system has no /proc. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + (ofEnded() + ofRunning()) / TICKS
}

/** Ticks of the processes that this one started and that have ended. */
function ofEnded(): number {
  const [, , , , , , , , , , , , , cutime = 0, cstime = 0] = statOf('self')
  return cutime + cstime
}

/** Ticks of the processes that this one started and that still run. */
function ofRunning(): number {
  return listProcesses()
    .map(statOf)
    .filter(([, ppid]) => ppid === process.pid)
    .reduce((sum, [, , , , , , , , , , , utime = 0, stime = 0]) => sum + utime + stime, 0)
}

function listProcesses(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** The numbers of a process after its name, by proc(5): its state, the process that started it, and so on. */
function statOf(pid: string): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
  } catch {
    return []
  }
}
