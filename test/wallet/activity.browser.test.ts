import type { Page } from 'playwright-core'
import { createWalletClient, encodeFunctionData, getAddress, http, parseAbi, publicActions } from 'viem'
import { describe, expect, onTestFinished } from 'vitest'
import { clickButton, listAxeViolations, openVault, test, VIEWS } from '../support/wallet-film.ts'

// The tests of this file use the demo wallet's timeline page in a real Chromium. The visitor has deposits and
// withdrawals on two chains.

async function openActivity(page: Page): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: 'Activity' }).click()
  await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor()
}

function rowsOf(page: Page, vault: string) {
  return page.getByRole('group').filter({ hasText: vault })
}

function stepsOf(page: Page, vault: string) {
  return rowsOf(page, vault).first().locator('.timeline > li > .event:first-child > span:first-child').allTextContents()
}

const DEPOSITS = parseAbi([
  'function asset() view returns (address)',
  'function approve(address spender, uint256 amount)',
  'function deposit(uint256 assets, address receiver)',
])

/** Deposits 1 USDC several times without the wallet. The node of the local chain signs for the depositing accounts. */
async function depositOften(
  {
    chains,
    accounts,
  }: { chains: readonly { chainId: number; rpcUrl: string }[]; accounts: readonly { address: string }[] },
  vault: string,
  count: number,
): Promise<void> {
  const { rpcUrl } = chains.find(({ chainId }) => chainId === 8453) ?? {}
  const [from, to] = [getAddress(accounts.at(-1)?.address ?? ''), getAddress(vault)]
  const node = createWalletClient({ account: from, transport: http(rpcUrl) }).extend(publicActions)
  const asset = await node.readContract({ abi: DEPOSITS, address: to, functionName: 'asset' })
  const send = (address: `0x${string}`, data: `0x${string}`) =>
    node.sendTransaction({ to: address, data, chain: null, gas: 500_000n })
  await send(
    asset,
    encodeFunctionData({ abi: DEPOSITS, functionName: 'approve', args: [to, BigInt(count) * 1_000_000n] }),
  )
  const data = encodeFunctionData({ abi: DEPOSITS, functionName: 'deposit', args: [1_000_000n, from] })
  for (let sent = 0; sent < count; sent += 1) await send(to, data)
}

describe('A visitor', () => {
  test('without a wallet is asked to connect one', async ({ visitor: { page } }) => {
    await page.goto('/activity')
    await page.getByRole('heading', { name: 'No wallet is connected' }).waitFor()
    expect(await listAxeViolations(page)).toEqual([])
  })

  test('without a deposit is shown the way to vaults', async ({ visitor: { page } }) => {
    await page.goto('/account')
    await page.getByLabel('E-mail address').fill('activity@example.com')
    await clickButton(page, 'Sign up with a passkey')
    await clickButton(page, 'Fresh local account')
    await clickButton(page, 'Link this wallet')
    await page.getByRole('button', { name: 'Unlink' }).waitFor()
    await openActivity(page)
    await page.getByRole('heading', { name: 'No activity yet' }).waitFor()
    expect(await listAxeViolations(page)).toEqual([])
  })
})

describe('A deposit that settles', () => {
  test('is in progress from its request until it is claimed, and once in the list', async ({ visitor, sandbox }) => {
    const { page } = visitor
    await openVault(page, 'Harbor USDC')
    await page.getByLabel('Amount').fill('25')
    await clickButton(page, /^Approve 25 USDC/)
    await clickButton(page, /^Deposit 25 USDC/)
    await page.getByText('Waiting for the vault’s settlement').waitFor()
    await openActivity(page)
    const rows = rowsOf(page, 'Harbor USDC')
    // The sandbox settles requests automatically, so the deposit may already be claimable.
    const open = page.getByRole('region', { name: 'In progress' })
    await open.getByText(/^(Waiting|Ready to claim)$/).waitFor()
    await rows.locator('summary').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => stepsOf(page, 'Harbor USDC')).toContain('Requested')
    await sandbox.control('vaults/settle')
    await expect
      .poll(() => stepsOf(page, 'Harbor USDC'), { timeout: 40_000 })
      .toEqual(['Requested', 'Settled', 'Ready to claim'])
    await rows.getByRole('link', { name: 'Claim in Harbor USDC' }).click()
    await clickButton(page, 'Claim')
    await page.getByRole('region', { name: 'Your deposit' }).waitFor({ state: 'detached' })
    await openActivity(page)
    await page.getByRole('region', { name: 'Today' }).getByText('+25 USDC').waitFor()
    expect(await rows.count()).toBe(1)
    expect(await open.count()).toBe(0)
    await rows.locator('summary').click()
    await expect.poll(() => stepsOf(page, 'Harbor USDC')).toEqual(['Requested', 'Settled', 'Claimed'])
    // The deposit's steps link the transactions of the request, the settlement and the claim. Webhook events report the last
    // two.
    await expect
      .poll(() => rows.getByRole('link', { name: /transaction's hash 0x/ }).count(), { timeout: 80_000 })
      .toBe(3)
  })
})

describe('A deposit from another chain', () => {
  test('is one entry that shows each step until the deposit', async ({ visitor, sandbox }) => {
    const { page } = visitor
    await sandbox.control('transfers/hold')
    await openVault(page, 'Cove USDC Savings')
    await page.getByRole('combobox').selectOption({ label: 'USDC on Arbitrum' })
    await page.getByLabel('Amount').fill('30')
    await clickButton(page, /^Approve 30 USDC/)
    await clickButton(page, /^Send 30 USDC/)
    await page.waitForURL(/\/transfers\/42161\/0x/)
    await page.getByText('Arriving on Base').waitFor()
    expect(await page.getByText('Arrived on Base').count()).toBe(0)
    await openActivity(page)
    const rows = rowsOf(page, 'Cove USDC Savings')
    await page.getByRole('region', { name: 'In progress' }).getByText('On its way').waitFor()
    await rows.locator('summary').click()
    await expect
      .poll(() => stepsOf(page, 'Cove USDC Savings'))
      .toEqual(['Sent on Arbitrum', 'Arriving on Base', 'Deposit on Base (to come)'])
    const whileUnderWay = await rows.locator('.entry-amount').textContent()
    await sandbox.control('transfers/fill')
    // The timeline row stays expanded when it moves from "In progress" to its day.
    await expect
      .poll(() => stepsOf(page, 'Cove USDC Savings'), { timeout: 40_000 })
      .toEqual(['Sent on Arbitrum', 'Arrived on Base', 'Deposited on Base'])
    expect(await rows.count()).toBe(1)
    await page.getByRole('region', { name: 'Today' }).getByText('Cove USDC Savings').first().waitFor()
    expect(await rows.locator('.entry-amount').textContent()).toBe(whileUnderWay)
    await page.reload()
    await page.getByRole('region', { name: 'Today' }).getByText('Cove USDC Savings').first().waitFor()
    expect(await rows.count()).toBe(1)
  })
})

describe('A withdrawal', () => {
  test('is one entry with the paid amount', async ({ visitor: { page } }) => {
    await openVault(page, 'Cove USDC Savings')
    await clickButton(page, 'Withdraw')
    await page.getByLabel('Amount').fill('5')
    await clickButton(page, /^Withdraw 5 USDC/)
    await page.getByText('Withdrawn. The money is in your wallet.').waitFor()
    await openActivity(page)
    await page.getByRole('radio', { name: 'Withdrawals' }).check()
    await page.getByText(/−(5|4\.9999) USDC/).waitFor()
    expect(await rowsOf(page, 'USDC').count()).toBe(1)
  })

  test('to another chain is one entry with its transfer', async ({ visitor: { page }, sandbox }) => {
    await sandbox.control('transfers/hold')
    await openVault(page, 'Cove USDC Savings')
    await clickButton(page, 'Withdraw')
    await page.getByRole('combobox').selectOption({ label: 'USDC on Arbitrum' })
    await page.getByLabel('Amount').fill('20')
    await clickButton(page, /^Approve 20 USDC/)
    await clickButton(page, /^Withdraw 20 USDC/)
    await clickButton(page, /^Send 20 USDC/)
    await page.waitForURL(/\/transfers\/8453\/0x/)
    await openActivity(page)
    const open = page.getByRole('region', { name: 'In progress' })
    await open.getByText('Base → Arbitrum').waitFor()
    await sandbox.control('transfers/fill')
    await open.waitFor({ state: 'detached' })
    await expect.poll(() => rowsOf(page, 'Cove USDC Savings').count()).toBe(3)
    await rowsOf(page, 'Base → Arbitrum').locator('summary').click()
    await expect
      .poll(() => stepsOf(page, 'Base → Arbitrum'))
      .toEqual(['Withdrawn on Base', 'Sent on Base', 'Arrived on Arbitrum'])
  })
})

describe('The timeline', () => {
  test.for(VIEWS)(
    'has no violations and no overflow with all rows open: $name',
    async (view, { visitor: { page } }) => {
      onTestFinished(() => page.setViewportSize(VIEWS[0].viewport))
      await page.setViewportSize(view.viewport)
      await page.emulateMedia({ colorScheme: view.colorScheme })
      await page.goto('/activity')
      await page.getByRole('region', { name: 'Today' }).waitFor()
      for (const summary of await page.locator('summary').all()) await summary.click()
      expect(await listAxeViolations(page)).toEqual([])
      expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    },
  )

  test('shows 20 rows by day in less than 1,400 px, each at most 60 px high', async ({
    visitor: { page },
    sandbox,
  }) => {
    await openVault(page, 'Cove USDC Savings')
    await depositOften(sandbox, new URL(page.url()).pathname.split('/').at(-1) ?? '', 20)
    await page.goto('/activity?kind=deposit')
    await expect.poll(() => page.locator('summary').count(), { timeout: 40_000 }).toBeGreaterThanOrEqual(20)
    const boxes = await Promise.all((await page.locator('summary').all()).map((row) => row.boundingBox()))
    const heights = boxes.map((box) => box?.height ?? Number.POSITIVE_INFINITY)
    expect(Math.max(...heights)).toBeLessThanOrEqual(60)
    const today = await page.getByRole('region', { name: 'Today' }).boundingBox()
    expect((today?.height ?? 0) / heights.length).toBeLessThan(1400 / 20)
  })

  test('shows placeholder rows while it loads, then its entries', async ({ visitor: { page } }) => {
    onTestFinished(() => page.unroute(/\/deposits\?/))
    let release = () => {}
    const hold = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\/deposits\?/, async (route) => {
      await hold
      await route.continue()
    })
    await page.goto('/activity')
    await page.getByRole('status', { name: 'Loading' }).waitFor()
    expect(await listAxeViolations(page)).toEqual([])
    release()
    await page.getByRole('region', { name: 'Today' }).waitFor()
  })

  test('says which chain is missing, and shows the others', async ({ visitor: { page }, sandbox }) => {
    onTestFinished(() => sandbox.control('chains/resume'))
    await sandbox.control('chains/stop', { chainId: 42161 })
    await page.goto('/activity')
    await page.getByText('Its activity is missing.').waitFor()
    await page.getByRole('region', { name: 'Today' }).waitFor()
    expect(await listAxeViolations(page)).toEqual([])
  })
})

test('A shortened amount shows all its digits on focus', async ({ visitor: { page } }) => {
  await openVault(page, 'Harbor USDC')
  const figure = page.getByRole('region', { name: 'Your position' }).locator('.cut').first()
  await figure.focus()
  const box = await figure.locator('.exact').boundingBox()
  expect(box?.width).toBeGreaterThan(60)
  expect(await figure.locator('.exact').textContent()).toMatch(/^exactly 24\.9999\d+ USDC$/)
  expect(await listAxeViolations(page)).toEqual([])
})
