import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { chromium } from 'playwright-core'
import * as z from 'zod'
import { addAuthenticator } from '../test/support/authenticator.ts'
import { unpackChromium } from '../test/support/chromium.ts'

// Takes the README's picture of the demo wallet from the running `npm start`: the home page of the local account with a past.
const PICTURE = 'docs/images/wallet.png'
/** The page keeps 15 pixels free for a scrollbar, which a picture does not show. */
const VIEWPORT = { width: 1295, height: 800 }
const CLIP = { x: 0, y: 0, width: 1280, height: 800 }

const { walletUrl } = z.object({ walletUrl: z.string() }).parse(JSON.parse(readState()))
const browser = await chromium.launch({ ...(await unpackChromium()), args: ['--no-sandbox'] })
try {
  const page = await browser.newPage({ baseURL: walletUrl, viewport: VIEWPORT, locale: 'en-US', colorScheme: 'light' })
  await addAuthenticator(page)
  await page.goto('/account')
  // Each run signs up another user: an address is registered once.
  await page.getByLabel('E-mail address').fill(`picture-${Date.now()}@example.com`)
  await page.getByRole('button', { name: 'Sign up with a passkey' }).click()
  await page.getByRole('button', { name: 'Local account with a past' }).click()
  await page.getByRole('button', { name: 'Link this wallet' }).click()
  await page.getByRole('button', { name: 'Unlink' }).waitFor()
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('heading', { name: 'In vaults' }).waitFor()
  await page.getByText('earned').last().waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  mkdirSync(dirname(PICTURE), { recursive: true })
  await page.screenshot({ path: PICTURE, animations: 'disabled', clip: CLIP })
  process.stdout.write(`${PICTURE} is written.\n`)
} finally {
  await browser.close()
}

function readState(): string {
  try {
    return readFileSync('.local/state.json', 'utf8')
  } catch (cause) {
    throw new Error('The local service is not running. Start it in another terminal: npm start', { cause })
  }
}
