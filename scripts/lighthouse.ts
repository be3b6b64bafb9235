import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import * as z from 'zod'
import { buildWalletCsp } from '../infra/wallet-config.ts'
import { PublicKey } from '../lib/signing/public-key.ts'
import { contentTypeOf } from '../sandbox/built-site.ts'
import { readState } from '../sandbox/state.ts'
import { unpackChromium } from '../test/support/chromium.ts'

// Prints Lighthouse's scores of the wallet's production pages, on a phone and on a desktop. Lighthouse is installed in a separate folder,
// because it needs 116 packages. The script serves the pages as a stage does; they call the running `npm start`.
const FOLDER = '.local/lighthouse'
const BUILD = join(FOLDER, 'wallet')
const VERSIONS = { lighthouse: '13.5.0' }
/** Port at which the script serves the wallet's pages. The local service accepts browser requests from this origin. */
const PORT = 5173
const LEAST = 95
/**
 * Maximum measurements of a page until its scores suffice. Other work on the machine only lowers scores, so the highest score is the true
 * one.
 */
const TRIES = 3
const PRESETS = ['mobile', 'desktop'] as const
type Preset = (typeof PRESETS)[number]

const Config = z.object({
  apiUrl: z.string(),
  apiKey: z.string(),
  signingKeys: z.array(PublicKey),
  chains: z.array(z.object({ chainId: z.number(), rpcUrl: z.string(), explorerUrl: z.string() })),
})
const Report = z.object({
  categories: z.record(
    z.string(),
    z.object({
      score: z.number(),
      auditRefs: z.array(z.object({ id: z.string(), weight: z.number() })),
    }),
  ),
  audits: z.record(
    z.string(),
    z.object({ score: z.number().nullable(), displayValue: z.string().optional(), title: z.string() }),
  ),
})

const { walletUrl, vaults } = await readState()
const [vault] = vaults
if (!vault) throw new Error('The local service has no vault.')
const PAGES = ['/', '/vaults', `/vaults/${vault.chainId}/${vault.address}`, '/markets', '/account']

mkdirSync(FOLDER, { recursive: true })
writeFileSync(join(FOLDER, 'package.json'), JSON.stringify({ private: true, dependencies: VERSIONS }))
run('npm', ['install', '--prefix', FOLDER, '--no-audit', '--no-fund', '--ignore-scripts'])
run('npm', ['run', 'build', '--workspace', 'wallet', '--', '--outDir', join(process.cwd(), BUILD), '--emptyOutDir'])
const server = await serve(Config.parse(await (await fetch(`${walletUrl}/config.json`)).json()))
const { executablePath, env } = await unpackChromium()
for (const page of PAGES) {
  for (const preset of PRESETS) await rate(page, preset)
}
server.close()
if (process.exitCode) process.stdout.write(`\nSomething is below ${LEAST}.\n`)

/** Prints the scores of a page and the audits that lower them. Sets exit code 1 if a score is below the minimum. */
async function rate(page: string, preset: Preset): Promise<void> {
  let report = await measure(page, preset)
  for (let tries = 1; tries < TRIES && isBelow(report); tries += 1) report = await measure(page, preset)
  if (isBelow(report)) process.exitCode = 1
  process.stdout.write(`\n${page} (${preset})\n`)
  for (const [name, { score, auditRefs }] of Object.entries(report.categories)) {
    process.stdout.write(`  ${Math.round(score * 100)} ${name}\n`)
    for (const { id, weight } of auditRefs) {
      const audit = report.audits[id]
      if (!audit || weight === 0 || audit.score === null || audit.score >= 0.9) continue
      process.stdout.write(`     ${audit.title}: ${audit.displayValue ?? id}\n`)
    }
  }
}

function isBelow({ categories }: z.output<typeof Report>): boolean {
  return Object.values(categories).some(({ score }) => Math.round(score * 100) < LEAST)
}

async function measure(page: string, preset: Preset): Promise<z.output<typeof Report>> {
  const out = join(FOLDER, 'report.json')
  const options = [
    ...['--output', 'json', '--output-path', out, '--only-categories', 'performance,accessibility', '--quiet'],
    ...['--chrome-flags=--headless --no-sandbox', ...(preset === 'desktop' ? ['--preset=desktop'] : [])],
  ]
  await promisify(execFile)(
    process.execPath,
    [join(FOLDER, 'node_modules/lighthouse/cli/index.js'), `http://localhost:${PORT}${page}`, ...options],
    { env: { ...env, CHROME_PATH: executablePath } },
  )
  return Report.parse(JSON.parse(readFileSync(out, 'utf8')))
}

/** Serves the built wallet as a stage does: compressed, with its Content-Security-Policy, and with index.html for paths without a file. */
async function serve(config: z.output<typeof Config>) {
  const listener = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost')
    const name = extname(pathname) === '' ? 'index.html' : pathname
    const headers = {
      'content-type': contentTypeOf(name),
      'content-encoding': 'gzip',
      'content-security-policy': buildWalletCsp(config),
      'cache-control': name.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    }
    try {
      const content = name === '/config.json' ? JSON.stringify(config) : readFileSync(join(BUILD, name))
      response.writeHead(200, headers).end(gzipSync(content))
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve, reject) => listener.once('error', reject).listen(PORT, 'localhost', resolve))
  return listener
}

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}.`)
}
