import { spawnSync } from 'node:child_process'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import * as z from 'zod'
import { readOptions } from './options.ts'

const USAGE = `Usage: npm run docs:build [-- --base /docs/] [-- --out dist/docs]
       npm run docs:dev

Builds the documentation site as static files, or serves it while you edit. The first run installs its generator in site/.

  --base  The path of the site at its host; /docs/ unless given, as on the local service and the stages
  --out   The folder of the files, dist/docs unless given
  --dev   Serves the pages, and shows each change
`

const Options = z.object({
  base: z
    .string()
    .regex(/^\/([\w-]+\/)*$/, 'takes a path that begins and ends with /')
    .default('/docs/'),
  out: z.string().default('dist/docs'),
  dev: z.literal(true).optional(),
})

const TSC = 'node_modules/typescript/bin/tsc'
const VITEPRESS = 'site/node_modules/vitepress/bin/vitepress.js'

const options = readOptions(USAGE, Options)
if (options) process.exitCode = main(options)

function main({ base, out, dev }: z.output<typeof Options>): number {
  const installed = existsSync(VITEPRESS) ? 0 : run('npm', 'ci', '--prefix', 'site', '--no-audit', '--no-fund')
  if (installed !== 0) return installed
  if (dev) return run(process.execPath, VITEPRESS, 'dev', 'site', '--base', base)
  const checked = run(process.execPath, TSC, '--project', 'site')
  if (checked !== 0) return checked
  // The build goes to a temporary folder first, so that the target folder always has a complete site.
  const parts = resolve(`${out}-${process.pid}`)
  const built = run(process.execPath, VITEPRESS, 'build', 'site', '--base', base, '--outDir', parts)
  if (built === 0) {
    rmSync(out, { recursive: true, force: true })
    renameSync(parts, out)
  }
  rmSync(parts, { recursive: true, force: true })
  return built
}

function run(command: string, ...args: readonly string[]): number {
  return spawnSync(command, args, { stdio: 'inherit' }).status ?? 1
}
