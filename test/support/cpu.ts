import { readdirSync, readFileSync } from 'node:fs'
import { afterAll } from 'vitest'

// This file measures the CPU time per test file. The time includes child processes, and one process runs all files one after
// another.
declare global {
  var cpuBefore: number | undefined
}
declare module 'vitest' {
  interface TaskMeta {
    /** CPU seconds of a test file, including the processes that it started. */
    cpuSeconds?: number
  }
}
/** Clock ticks per second in the process times of Linux's /proc. */
const TICKS = 100

globalThis.cpuBefore ??= cpuSeconds()

// biome-ignore lint/correctness/noEmptyPattern: vitest reads a hook's needs from this pattern.
afterAll(({}, file) => {
  const now = cpuSeconds()
  file.meta.cpuSeconds = now - (globalThis.cpuBefore ?? now)
  globalThis.cpuBefore = now
})

/** Returns the CPU seconds of this process and its children so far. Systems without /proc do not count the children. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + (ofEnded() + ofRunning()) / TICKS
}

function ofEnded(): number {
  const [, , , , , , , , , , , , , cutime = 0, cstime = 0] = statOf('self')
  return cutime + cstime
}

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

/**
 * Returns the fields of /proc/…/stat after the process name, in the order of proc(5). The list is empty if the process has
 * ended.
 */
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
