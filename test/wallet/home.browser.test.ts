import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import { addAuthenticator } from '../support/authenticator.ts'
import { test as base, clickButton, listAxeViolations, openVault, VIEWS } from '../support/wallet-film.ts'

// The tests of this file use the home page and the deposit form of the demo wallet. They check holdings by chain,
// sources of deposits, and texts during an outage.

const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1'

const test = base.extend('smart', { scope: 'file' }, async ({ browser, sandbox }, { onCleanup }) => {
  const context = await browser.newContext({ baseURL: sandbox.walletUrl, locale: 'en-US' })
  onCleanup(() => context.close())
  return joinAs(context, 'Local smart account')
})

async function joinAs(context: BrowserContext, account: string): Promise<Page> {
  const page = await context.newPage()
  page.setDefaultTimeout(40_000)
  await addAuthenticator(page)
  await join(page, account)
  return page
}

async function join(page: Page, account: string): Promise<void> {
  await page.goto('/account')
  await page.getByLabel('E-mail address').fill(`${account.replaceAll(' ', '-')}@example.com`)
  await clickButton(page, 'Sign up with a passkey')
  await clickButton(page, account)
  await clickButton(page, 'Link this wallet')
  await page.getByRole('button', { name: 'Unlink' }).waitFor()
}

function countActs(page: Page) {
  const acts = { clicks: 0, fields: 0 }
  return {
    acts,
    async click(role: 'link' | 'button', name: string | RegExp) {
      acts.clicks += 1
      await page.getByRole(role, { name }).first().click()
    },
    async fill(label: string, text: string) {
      acts.fields += 1
      await page.getByLabel(label).fill(text)
    },
  }
}

test('A coin on several chains is one row that expands to its chains', async ({ smart: page }) => {
  await page.goto('/')
  const chains = page.getByRole('button', { name: 'ETH on 2 chains' })
  await chains.click()
  expect(await chains.getAttribute('aria-expanded')).toBe('true')
  for (const name of ['Base', 'Arbitrum']) {
    const row = page.getByRole('row', { name: new RegExp(`^${name} .*ETH`) })
    expect(await row.textContent()).toMatch(/ETH/)
  }
  await chains.click()
  expect(await page.getByRole('row', { name: /^Base .*ETH/ }).count()).toBe(0)
})

test('A smart account deposits with one confirmation, in three clicks and one field from the home page', async ({
  smart: page,
}) => {
  await page.goto('/')
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.postData()?.includes('eth_sendTransaction')) sent.push(request.url())
  })
  const { acts, click, fill } = countActs(page)
  await click('link', 'Earn')
  await click('link', 'Cove USDC Savings')
  await fill('Amount', '12')
  await click('button', /^Approve and deposit 12 USDC/)
  await page.getByText('Deposited. It earns from now on.').waitFor()
  expect(acts).toEqual({ clicks: 3, fields: 1 })
  expect(sent).toHaveLength(1)
})

test('A reload shows a pending batch, and offers no second deposit before it ends', async ({
  smart: page,
  sandbox,
}) => {
  onTestFinished(() => sandbox.control('chains/resume'))
  await page.goto('/')
  await openVault(page, 'Cove USDC Savings')
  const position = page.getByRole('region', { name: 'Your position' })
  await expect.poll(() => position.textContent()).toMatch(/Deposited12(\.\d+)? USDC/)
  await page.getByLabel('Amount').fill('7')
  await page.getByRole('button', { name: /^Approve and deposit 7 USDC/ }).waitFor()
  await sandbox.control('chains/hold', { chainId: 8453 })
  await clickButton(page, /^Approve and deposit 7 USDC/)
  await page.getByRole('button', { name: 'Waiting for the chain' }).waitFor()
  const card = page.getByRole('region', { name: 'On its way' })
  expect(await card.count()).toBe(0)
  await page.reload()
  await card.waitFor()
  expect(await page.getByLabel('Amount').count()).toBe(0)
  // The user can withdraw while a deposit is in progress, but cannot start a second deposit.
  await clickButton(page, 'Withdraw')
  await page.getByLabel('Amount').waitFor()
  await clickButton(page, 'Deposit')
  expect(await page.getByLabel('Amount').count()).toBe(0)
  await sandbox.control('chains/resume')
  await card.waitFor({ state: 'detached' })
  await page.getByLabel('Amount').waitFor()
  await expect.poll(() => position.textContent()).toMatch(/Deposited19(\.\d+)? USDC/)
})

test('A pending batch is shown in the other tab of the form, too', async ({ smart: page, sandbox }) => {
  onTestFinished(() => sandbox.control('chains/resume'))
  await page.goto('/')
  await openVault(page, 'Cove USDC Savings')
  await page.getByLabel('Amount').fill('3')
  await page.getByRole('button', { name: /^Approve and deposit 3 USDC/ }).waitFor()
  await sandbox.control('chains/hold', { chainId: 8453 })
  await clickButton(page, /^Approve and deposit 3 USDC/)
  await page.getByRole('button', { name: 'Waiting for the chain' }).waitFor()
  await clickButton(page, 'Withdraw')
  await page.getByRole('region', { name: 'On its way' }).waitFor()
  await clickButton(page, 'Deposit')
  expect(await page.getByLabel('Amount').count()).toBe(0)
  await sandbox.control('chains/resume')
  await page.getByLabel('Amount').waitFor()
})

test('A page says what to check if the wallet no longer knows a batch', async ({ smart: page, sandbox }) => {
  onTestFinished(() => sandbox.control('chains/resume'))
  await page.goto('/')
  await openVault(page, 'Cove USDC Savings')
  await page.getByLabel('Amount').fill('2')
  await page.getByRole('button', { name: /^Approve and deposit 2 USDC/ }).waitFor()
  await sandbox.control('chains/hold', { chainId: 8453 })
  await clickButton(page, /^Approve and deposit 2 USDC/)
  await page.getByRole('button', { name: 'Waiting for the chain' }).waitFor()
  await page.evaluate(`{
    const [sent] = JSON.parse(localStorage.getItem('vaultline.under-way'))
    const batchId = '0x' + '7'.repeat(64) + '2105'
    localStorage.setItem('vaultline.under-way', JSON.stringify([{ ...sent, batchId }]))
  }`)
  await page.reload()
  await page.getByText('Your wallet no longer knows this deposit').waitFor()
  expect(await page.getByLabel('Amount').count()).toBe(0)
  await clickButton(page, 'I have checked')
  await page.getByLabel('Amount').waitFor()
})

test('An account without batches deposits in four clicks and one field from the home page', async ({
  visitor: { page },
}) => {
  await join(page, 'Fresh local account')
  await page.goto('/')
  const { acts, click, fill } = countActs(page)
  await click('link', 'Earn')
  await click('link', 'Cove USDC Savings')
  await fill('Amount', '12')
  await click('button', /^Approve 12 USDC/)
  await click('button', /^Deposit 12 USDC/)
  await page.getByText('Deposited. It earns from now on.').waitFor()
  expect(acts).toEqual({ clicks: 4, fields: 1 })
})

test('Rewards of campaigns are shown by chain, and claimed with one confirmation', async ({
  browser,
  sandbox,
  smart,
}) => {
  const [account] = sandbox.accounts
  const pay = (chainId: number, amount: string, inDisputePeriod: boolean) =>
    sandbox.control('rewards/grant', { chainId, account: account?.address, amount, inDisputePeriod })
  await pay(8453, '7000000000000000000', false)
  await pay(42161, '2500000000000000000', true)
  const context = await browser.newContext({ baseURL: sandbox.walletUrl, locale: 'en-US' })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(40_000)
  await page.goto('/account')
  await clickButton(page, 'Local account with a past')
  await page.goto('/')
  const rewards = page.getByRole('region', { name: 'Rewards' })
  await rewards.getByText('7 MORPHO').waitFor()
  expect(await rewards.textContent()).toMatch(/2\.5 MORPHO.*To claim in part from /)
  expect(await page.getByRole('button', { name: /^Claim on/ }).count()).toBe(1)
  await clickButton(page, 'Claim on Base')
  await rewards.getByText('You receive').waitFor()
  for (const { name, ...view } of VIEWS) {
    await page.setViewportSize(view.viewport)
    await page.emulateMedia(view)
    expect(await listAxeViolations(page), name).toEqual([])
  }
  await clickButton(page, 'Claim now')
  await page.getByRole('button', { name: /^Claim/ }).waitFor({ state: 'detached' })
  await expect.poll(() => rewards.textContent()).not.toContain('7 MORPHO')

  await page.goto('/vaults')
  const row = page.getByRole('row', { name: /Mooring DAI Savings/ })
  await row.getByText('+ 3.10% MORPHO').waitFor()
  await row.getByRole('link').click()
  await page.getByText('A year, on top of the yield').waitFor()
  expect(await listAxeViolations(page)).toEqual([])

  // Users without rewards see no section about rewards.
  await smart.goto('/')
  await smart.getByRole('heading', { name: 'In vaults' }).waitFor()
  await smart.waitForLoadState('networkidle')
  expect(await smart.getByText('Rewards').count()).toBe(0)
})

test('The chain with the money is preselected, and the transfer starts within six clicks', async ({ smart: page }) => {
  await page.goto('/')
  const { acts, click, fill } = countActs(page)
  await click('link', 'Earn')
  await click('link', 'Cove USDC Savings')
  await page.getByRole('combobox').waitFor()
  // The page selects the vault's own chain as source while the balance there suffices.
  expect(await page.getByRole('combobox').inputValue()).toBe('8453')
  await fill('Amount', '4995')
  // The page selects Arbitrum, because only 4,988 USDC are left on Base.
  await expect.poll(() => page.getByRole('combobox').inputValue()).toBe('42161')
  await click('button', /^Approve and send 4,995 USDC/)
  await page.waitForURL(/\/transfers\/42161\/0x/)
  expect(acts.clicks).toBeLessThanOrEqual(6)
})

test('A transfer sent as a batch is followed after a reload until it has a page', async ({ smart: page, sandbox }) => {
  onTestFinished(() => sandbox.control('chains/resume'))
  await page.goto('/')
  await openVault(page, 'Cove USDC Savings')
  await page.getByRole('combobox').selectOption({ label: 'USDC on Arbitrum' })
  await page.getByLabel('Amount').fill('4')
  await page.getByRole('button', { name: /^Approve and send 4 USDC/ }).waitFor()
  await sandbox.control('chains/hold', { chainId: 42161 })
  await clickButton(page, /^Approve and send 4 USDC/)
  await page.getByRole('button', { name: 'Waiting for the chain' }).waitFor()
  await page.reload()
  await page.getByRole('region', { name: 'On its way' }).waitFor()
  await sandbox.control('chains/resume')
  await page.waitForURL(/\/transfers\/42161\/0x/)
  await page.getByRole('heading', { name: 'Deposit into Cove USDC Savings' }).waitFor()
})

test('A page says what to check if no node knows a transaction after two minutes', async ({ browser, sandbox }) => {
  const context = await browser.newContext({ baseURL: sandbox.walletUrl, locale: 'en-US' })
  onTestFinished(() => context.close())
  const [fresh, late] = [transferOf('07', Date.now()), transferOf('08', Date.now() - 121_000)]
  await context.addInitScript(
    (transfersJson) => localStorage.setItem('vaultline.transfers', transfersJson),
    JSON.stringify([fresh, late]),
  )
  const page = await context.newPage()
  await page.goto(`/transfers/8453/${late.hash}`)
  await page.getByText('We have not seen this transaction yet').waitFor()
  await page.goto(`/transfers/8453/${fresh.hash}`)
  await page.getByText('waiting to be mined').waitFor()
  expect(await page.getByText('We have not seen this transaction yet').count()).toBe(0)
})

function transferOf(end: string, startedAt: number) {
  const [hash, account] = [`0x${end.padStart(64, '0')}`, `0x${'11'.repeat(20)}`]
  const [vault, usdc] = [
    { chainId: 42161, address: account, name: 'Cove' },
    { symbol: 'USDC', decimals: 6 },
  ]
  return { hash, srcChainId: 8453, kind: 'deposit', vault, account, amount: '1', from: usdc, to: usdc, startedAt }
}

describe('While Base is down', () => {
  test('the total and the chart say that it is missing', async ({ browser, sandbox }) => {
    onTestFinished(() => sandbox.control('chains/resume'))
    const context = await browser.newContext({ baseURL: sandbox.walletUrl, locale: 'en-US' })
    onTestFinished(() => context.close())
    const page = await joinAs(context, 'Local account with a past')
    await sandbox.control('chains/stop', { chainId: 8453 })
    await page.goto('/')
    await page.getByRole('region', { name: 'Total value' }).getByText('without Base').waitFor()
    await page.getByRole('heading', { name: /past prices without Base/ }).waitFor()
    await sandbox.control('chains/resume')
    await page.getByText('without Base').first().waitFor({ state: 'detached' })
  })
})

test('A phone without a wallet gets links to wallet apps', async ({ browser, sandbox }) => {
  const context = await browser.newContext({
    baseURL: sandbox.walletUrl,
    userAgent: PHONE,
    viewport: VIEWS[1].viewport,
  })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto('/account')
  await page.getByText('Open this page in your wallet app’s browser').waitFor()
  const host = new URL(sandbox.walletUrl).host
  expect(await page.getByRole('link', { name: 'Open in MetaMask' }).getAttribute('href')).toBe(
    `https://link.metamask.io/dapp/${host}/account`,
  )
  expect(await page.getByRole('link', { name: 'Open in Base app' }).getAttribute('href')).toBe(
    `cbwallet://miniapp?url=${encodeURIComponent(`${sandbox.walletUrl}/account`)}`,
  )
})

test('A browser without passkeys says so in advance, and its wallet deposits without an account', async ({
  browser,
  sandbox,
}) => {
  const context = await browser.newContext({ baseURL: sandbox.walletUrl, locale: 'en-US' })
  onTestFinished(() => context.close())
  await context.addInitScript('delete window.PublicKeyCredential')
  const page = await context.newPage()
  page.setDefaultTimeout(40_000)
  await page.goto('/')
  await page.getByText('This browser cannot use passkeys.').waitFor()
  await page.goto('/account')
  await page.getByText('This browser cannot use passkeys.').waitFor()
  expect(await page.getByRole('button', { name: 'Sign up with a passkey' }).count()).toBe(0)
  expect(await listAxeViolations(page)).toEqual([])
  await clickButton(page, 'Fresh local account')
  await openVault(page, 'Cove USDC Savings')
  await page.getByLabel('Amount').fill('11')
  await clickButton(page, /^Approve 11 USDC/)
  await clickButton(page, /^Deposit 11 USDC/)
  await page.getByText('Deposited. It earns from now on.').waitFor()
})

for (const { name, viewport, colorScheme } of VIEWS.slice(0, 2)) {
  test(`The home page with a coin opened is accessible (${name})`, async ({ smart: page }) => {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.goto('/')
    await page.getByRole('button', { name: 'ETH on 2 chains' }).click()
    await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
    expect(await listAxeViolations(page)).toEqual([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  })
}
