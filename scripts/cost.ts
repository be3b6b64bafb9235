import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import * as z from 'zod'
import { endpoints } from '../functions/contracts.ts'
import { COUNTS_FILE, CountsFile } from './cost/counts.ts'
import { buildGrowth } from './cost/growth.ts'
import { buildPage } from './cost/page.ts'
import { readOptions } from './options.ts'

const FILE = 'docs/cost.md'
const SCALE = 'docs/scale.md'
/** Matches the section `Growth` of docs/scale.md, up to the next heading. */
const SECTION = /^## Growth\n[\s\S]*?(?=\n## )/m
const USAGE = `Usage: npm run cost -- [--page | --check]

Counts the requests of the wallet's story into ${COUNTS_FILE}, which takes a minute. Then writes ${FILE}, and
the pictures of growth in ${SCALE}, from these counts and the list prices.

  --page    Only writes pages and pictures, from the existing counts
  --check   Writes nothing, and ends with 1 if a page or picture does not match the counts and prices
`
const Flag = z.boolean().default(false)
const Settings = z.object({ page: Flag, check: Flag })

async function main({ page: isPageOnly, check: isCheck }: z.output<typeof Settings>): Promise<void> {
  if (!isPageOnly && !isCheck) {
    const counts = ['test/functions/counts.deep.test.ts', 'test/infra/template.infra.test.ts', '-t', 'docs/cost.json']
    run('vitest', ['run', '--no-file-parallelism', ...counts], { COSTS: 'write' })
  }
  const counted = CountsFile.parse(JSON.parse(await readFile(COUNTS_FILE, 'utf8')))
  const missing = Object.keys(endpoints).filter((name) => !counted.endpoints[name])
  if (missing.length > 0) {
    throw new Error(
      `${missing.join(', ')}: not counted. Give it its place in test/support/wallet-story.ts, then: npm run cost`,
    )
  }
  for (const [file, text] of Object.entries(await buildFiles(counted))) {
    if (!isCheck) {
      await writeFile(file, text)
    } else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
      process.stderr.write(`${file} is not what ${COUNTS_FILE} and the prices say. Run: npm run cost\n`)
      process.exitCode = 1
    }
  }
}

async function buildFiles(counted: CountsFile): Promise<Readonly<Record<string, string>>> {
  const { pictures, section } = buildGrowth(counted)
  const scale = await readFile(SCALE, 'utf8')
  if (!SECTION.test(scale)) throw new Error(`${SCALE} has no section Growth.`)
  return { [FILE]: buildPage(counted), ...pictures, [SCALE]: scale.replace(SECTION, () => section) }
}

function run(tool: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): void {
  const options = { stdio: 'inherit', env: { ...process.env, ...environment } } as const
  const { status } = spawnSync('npx', ['--no-install', tool, ...args], options)
  if (status !== 0) throw new Error(`${tool} failed.`)
}

const settings = readOptions(USAGE, Settings)
if (settings) await main(settings)
