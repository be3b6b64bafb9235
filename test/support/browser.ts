import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium as browsers, type Page } from 'playwright-core'
import packageJson from '../../package.json' with { type: 'json' }
import { chainlessTest } from './service.ts'

const VERSION = packageJson.devDependencies['@sparticuz/chromium']
/** Where Chromium is, once somebody has unpacked it on this machine. */
const CHROMIUM = join(tmpdir(), `vaultline-chromium-${VERSION}`)
const UNPACK = join(import.meta.dirname, 'unpack-chromium.ts')

/** Chromium's folder. The package takes a file that another process is still writing for a whole one: `spawn ETXTBSY`. */
async function unpackChromium(): Promise<string> {
  if (existsSync(CHROMIUM)) return CHROMIUM
  const parts = await mkdtemp(`${CHROMIUM}-`)
  const env = { ...process.env, TMPDIR: parts }
  await promisify(execFile)(process.execPath, [UNPACK], { env })
  await rename(parts, CHROMIUM).catch(async (error) => {
    // Another process was the first.
    await rm(parts, { recursive: true })
    if (!existsSync(CHROMIUM)) throw error
  })
  return CHROMIUM
}

const AUTHENTICATOR = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const

/** Tests with a real Chromium, which opens empty pages on any origin; each page has an authenticator of its own. */
export const test = chainlessTest
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('browser', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await unpackChromium()
    const env = { ...process.env, LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') }
    const browser = await browsers.launch({ executablePath: join(folder, 'chromium'), args: ['--no-sandbox'], env })
    onCleanup(() => browser.close())
    return browser
  })
  .extend('open', async ({ browser }, { onCleanup }) => {
    const context = await browser.newContext({ permissions: ['local-network-access'] })
    onCleanup(() => context.close())
    return async (origin: string): Promise<Page> => {
      const page = await context.newPage()
      await page.route(`${origin}/**`, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }))
      await page.goto(origin)
      await addAuthenticator(page)
      return page
    }
  })

/** Gives a page an authenticator of its own, whose user always agrees. */
export async function addAuthenticator(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('WebAuthn.enable')
  await devTools.send('WebAuthn.addVirtualAuthenticator', { options: AUTHENTICATOR })
}
