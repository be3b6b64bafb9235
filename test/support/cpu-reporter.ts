import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** Budgets in CPU seconds for all test files of one kind together. */
const BUDGETS: Readonly<Record<string, number>> = { unit: 30, table: 15, service: 200 }
const FILE_BUDGET = 12
/**
 * Factor by which the CPU time may exceed a budget, because other processes on the machine can make it 1.8 times as much. A
 * single file has a larger factor, because it may start local chains that other files share.
 */
const BUDGET_FACTOR = 2
const FILE_BUDGET_FACTOR = 3
const LISTED_FILES = 5

/**
 * Reports the CPU seconds of each kind of tests, and of the most expensive files. Fails the test run if they exceed the
 * budgets.
 */
export class CpuReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      kind: module.project.name,
      path: relative(process.cwd(), module.moduleId),
      seconds: module.meta().cpuSeconds ?? 0,
    }))
    const kinds = [...Map.groupBy(files, ({ kind }) => kind)].map(([kind, of]) => ({
      kind,
      seconds: of.reduce((sum, { seconds }) => sum + seconds, 0),
    }))
    const text = kinds.map(({ kind, seconds }) => `${kind} ${seconds.toFixed(1)}${ofBudget(BUDGETS[kind])}`)
    const dearest = files.toSorted((left, right) => right.seconds - left.seconds).slice(0, LISTED_FILES)
    const lines = [
      `CPU seconds: ${text.join(', ')}`,
      ...dearest.map(({ path, seconds }) => `  ${seconds.toFixed(1).padStart(5)}  ${path}`),
    ]
    const over = [
      ...kinds.filter(({ kind, seconds }) => seconds > BUDGET_FACTOR * (BUDGETS[kind] ?? Number.POSITIVE_INFINITY)),
      ...files.filter(({ kind, seconds }) => kind in BUDGETS && seconds > FILE_BUDGET_FACTOR * FILE_BUDGET),
    ].map((one) => ('path' in one ? one.path : one.kind))
    // The environment variable FC_RUNS increases the number of samples, so the budgets do not hold with it.
    if (over.length > 0 && process.env['FC_RUNS'] === undefined) {
      process.exitCode = 1
      lines.push(`Over budget: ${over.join(', ')}`)
    }
    process.stdout.write(`${lines.join('\n')}\n\n`)
  }
}

function ofBudget(budget: number | undefined): string {
  return budget === undefined ? '' : ` of ${budget}`
}
