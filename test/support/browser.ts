import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import chromium, { inflate } from '@sparticuz/chromium'
import { chromium as browsers, type Page } from 'playwright-core'
import { chainlessTest } from './service.ts'

const PACKAGE = dirname(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')))
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
    const executablePath = await chromium.executablePath()
    // The libraries that Chromium needs, for machines that lack them.
    const libraries = join(await inflate(join(PACKAGE, 'bin', 'al2023.tar.br')), 'lib')
    const env = { ...process.env, LD_LIBRARY_PATH: libraries }
    const browser = await browsers.launch({ executablePath, args: ['--no-sandbox'], env })
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
