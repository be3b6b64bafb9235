import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { chromium } from 'playwright-core'
import { readState } from '../sandbox/state.ts'
import { addAuthenticator } from '../test/support/authenticator.ts'
import { unpackChromium } from '../test/support/chromium.ts'

// Takes the README's screenshot of the running `npm start`. It shows the sandbox's control page and the wallet of a local account with
// months of history.
const PICTURE = 'docs/images/sandbox.png'
const VIEWPORT = { width: 1280, height: 800 }

const { walletUrl } = await readState()
const browser = await chromium.launch({ ...(await unpackChromium()), args: ['--no-sandbox'] })
try {
  const page = await browser.newPage({ baseURL: walletUrl, viewport: VIEWPORT, locale: 'en-US', colorScheme: 'light' })
  await addAuthenticator(page)
  await page.goto('/sandbox')
  const wallet = page.frameLocator('iframe')
  await wallet.getByRole('banner').getByRole('link', { name: 'Get started' }).click()
  // Each run signs up a new user, because an e-mail address can register only once.
  await wallet.getByLabel('E-mail address').fill(`picture-${Date.now()}@example.com`)
  await wallet.getByRole('button', { name: 'Sign up with a passkey' }).click()
  await wallet.getByRole('button', { name: 'Local account with a past' }).click()
  await wallet.getByRole('button', { name: 'Link this wallet' }).click()
  await wallet.getByRole('button', { name: 'Unlink' }).first().waitFor()
  // The next steps cause the activity that the screenshot shows: a deposit, its webhook event, and a sandbox control
  // that is switched on.
  await wallet.getByRole('link', { name: 'Earn' }).click()
  await wallet.getByRole('link', { name: 'Harbor USDC' }).click()
  await wallet.getByLabel('Amount').fill('250')
  await wallet.getByRole('button', { name: /^Approve 250 USDC/ }).click()
  await wallet.getByRole('button', { name: /^Deposit 250 USDC/ }).click()
  await wallet.getByText('Waiting for the vault’s settlement').waitFor()
  const settle = page.getByRole('form', { name: 'Settle' })
  await settle.getByRole('button').click()
  await wallet.getByRole('button', { name: 'Claim' }).waitFor()
  await page.getByRole('region', { name: 'Events' }).getByText('deposit.claimable').first().waitFor()
  await page.getByRole('radio', { name: 'The bridge' }).check()
  await page.getByRole('button', { name: 'Hold' }).click()
  await page.getByText('The bridge fills no transfers').waitFor()
  await page.getByRole('radio', { name: 'A vault' }).check()
  await wallet.locator('.skeleton').first().waitFor({ state: 'detached' })
  mkdirSync(dirname(PICTURE), { recursive: true })
  await page.screenshot({ path: PICTURE, animations: 'disabled' })
  await page.getByRole('button', { name: /^End/ }).click()
  process.stdout.write(`${PICTURE} is written.\n`)
} finally {
  await browser.close()
}
