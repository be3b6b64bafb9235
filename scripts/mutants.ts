import { execFile } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'

// Tests the tests. Plants the mistakes (mutants) of test/mutants, one patch at a time, in copies of the repository. Runs the unit and table
// tests that load the changed file. Fails if the tests miss more than 5 % of the mistakes, or if a patch no longer applies.
//
// npm run mutants                         plants all mistakes
// npm run mutants -- calldata fees/rounds plants the mistakes whose names begin with these prefixes

const FOLDER = 'test/mutants'
const ENOUGH_PERCENT = 95
/** Number of copies in which tests run concurrently; each keeps one core busy. */
const COPIES = 2
/**
 * Timeout of the tests for one mistake, as a multiple of their duration without mistakes. A mistake can cause an
 * endless loop.
 */
const ENDLESS_FACTOR = 2

const run = promisify(execFile)

/** Patch that plants one mistake in `file`. The first line of the patch describes the mistake. */
type Mutant = { readonly name: string; readonly path: string; readonly file: string; readonly mistake: string }

/** Result for a patch: the name of the failing test, `survived` if none fails, or `stale` if the patch does not apply. */
type Fate = { readonly killer: string } | 'survived' | 'stale'

/** Schema of the part that this script reads of vitest's JSON report. */
const Report = z.object({
  testResults: z.array(z.object({ assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })) })),
})

const beginnings = process.argv.slice(2)
const mutants = globSync(`${FOLDER}/*/*.patch`)
  .toSorted()
  .map(parseMutant)
  .filter(({ name }) => beginnings.length === 0 || beginnings.some((beginning) => name.startsWith(beginning)))
if (mutants.length === 0) throw new Error(`There are no mutants of ${beginnings.join(', ')}.`)

let timeout = 0
const files = new Set(mutants.map(({ file }) => file))
await inCopy(async (copy) => {
  const begun = Date.now()
  const failing = await findFailure(copy, [...files])
  if (failing) throw new Error(`Without any mutant a test fails: ${failing}`)
  timeout = ENDLESS_FACTOR * (Date.now() - begun)
})
const waiting = mutants.values()
const fates = new Map<Mutant, Fate>()
await Promise.all(Array.from({ length: COPIES }, () => inCopy(tryWaiting)))

const outcomes = mutants.map((mutant) => ({ ...mutant, fate: fates.get(mutant) }))
for (const { name, fate, mistake } of outcomes) if (fate === 'survived') print(`Survived: ${name}. ${mistake}`)
const stale = outcomes.filter(({ fate }) => fate === 'stale')
for (const { name } of stale) print(`Stale, to be made anew: ${name}`)
const killed = outcomes.filter(({ fate }) => typeof fate === 'object').length
const percent = (100 * killed) / mutants.length
print(`${killed} of ${mutants.length} mutants killed (${percent.toFixed(1)} %)`)
if (percent < ENOUGH_PERCENT || stale.length > 0) process.exitCode = 1

function parseMutant(path: string): Mutant {
  const text = readFileSync(path, 'utf8')
  const [mistake = ''] = text.split('\n', 1)
  const [file, ...others] = [...text.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, changed = '']) => changed)
  if (!file || others.length > 0) throw new Error(`${path} does not change exactly one file.`)
  return { name: path.slice(FOLDER.length + 1, -'.patch'.length), path: resolve(path), file, mistake }
}

/** Calls `work` with a temporary copy of the repository, including uncommitted changes. */
async function inCopy(work: (copy: string) => Promise<void>): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), 'mutants-'))
  try {
    const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
    for (const path of stdout.split('\0').filter(existsSync)) cpSync(path, join(copy, path))
    symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
    await work(copy)
  } finally {
    rmSync(copy, { recursive: true })
  }
}

/** Tests patches that no copy has tested yet, until none is left. */
async function tryWaiting(copy: string): Promise<void> {
  for (const mutant of waiting) {
    const fate = await tryMutant(copy, mutant)
    fates.set(mutant, fate)
    const end = typeof fate === 'string' ? fate : `killed by "${fate.killer}"`
    print(`${fates.size}/${mutants.length} ${mutant.name}: ${end}`)
  }
}

async function tryMutant(copy: string, { path, file }: Mutant): Promise<Fate> {
  const isApplied = await run('git', ['apply', path], { cwd: copy }).then(
    () => true,
    () => false,
  )
  if (!isApplied) return 'stale'
  const killer = await findFailure(copy, [file])
  await run('git', ['apply', '--reverse', path], { cwd: copy })
  return killer === undefined ? 'survived' : { killer }
}

/**
 * Runs the tests that load these files. Returns the name of the first failing test, or of another failure such as a timeout; undefined if
 * all pass.
 */
async function findFailure(copy: string, changed: readonly string[]): Promise<string | undefined> {
  const output = join(copy, 'report.json')
  const options = [
    '--project=unit',
    '--project=table',
    '--bail=1',
    '--maxWorkers=1',
    '--passWithNoTests',
    '--reporter=json',
  ]
  const vitest = [
    'node_modules/vitest/vitest.mjs',
    'related',
    '--run',
    ...options,
    `--outputFile=${output}`,
    ...changed,
  ]
  // vitest ends with an error if a test fails or crashes. No report exists if no test loads the files.
  const ended = await run(process.execPath, vitest, { cwd: copy, maxBuffer: Infinity, timeout }).then(
    () => undefined,
    ({ killed, stderr }) => (killed ? 'a run without end' : `a run that breaks: ${stderr}`),
  )
  const results = existsSync(output) ? Report.parse(JSON.parse(readFileSync(output, 'utf8'))).testResults : []
  rmSync(output, { force: true })
  const failed = results.flatMap(({ assertionResults }) => assertionResults).find(({ status }) => status === 'failed')
  return failed?.fullName ?? ended
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
