import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import chromium, { inflate } from '@sparticuz/chromium'
import { build } from 'esbuild'
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

/** The clients as a page would bundle them, under `clients`. */
const CLIENTS = `
  export { startAuthentication, startRegistration } from '@simplewebauthn/browser'
  export { BrowserKeySigner, WebAuthnSigner } from '@dfns/sdk-browser'
`

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
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('clients', { scope: 'file' }, async ({}) => {
    const { outputFiles } = await build({
      stdin: { contents: CLIENTS, resolveDir: import.meta.dirname },
      bundle: true,
      write: false,
      format: 'iife',
      globalName: 'clients',
      platform: 'browser',
      define: { global: 'globalThis' },
    })
    return outputFiles[0]?.text ?? ''
  })
  .extend('open', async ({ browser, clients }, { onCleanup }) => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    onCleanup(() => context.close())
    return async (origin: string): Promise<Page> => {
      const page = await context.newPage()
      await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }))
      await page.goto(origin)
      const devTools = await context.newCDPSession(page)
      await devTools.send('WebAuthn.enable')
      await devTools.send('WebAuthn.addVirtualAuthenticator', { options: AUTHENTICATOR })
      await page.addScriptTag({ content: clients })
      return page
    }
  })
