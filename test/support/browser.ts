import { chromium as browsers, type Page } from 'playwright-core'
import { addAuthenticator } from './authenticator.ts'
import { unpackChromium } from './chromium.ts'
import { chainlessTest } from './service.ts'

/**
 * Test fixtures with a real Chromium. `open` loads an empty page at an origin, with a virtual WebAuthn authenticator per page.
 */
export const test = chainlessTest
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('browser', { scope: 'file' }, async ({}, { onCleanup }) => {
    const browser = await browsers.launch({ ...(await unpackChromium()), args: ['--no-sandbox'] })
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
