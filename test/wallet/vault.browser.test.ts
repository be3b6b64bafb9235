import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import { clickButton, listAxeViolations, test, VIEWS } from '../support/wallet-film.ts'

// The tests of this file use the demo wallet's vault list and vault page, with recorded price histories. The visitor
// first has no connected wallet, and later has deposits.

// These nodes serve old blocks, so the service can read each vault's earlier prices.
test.override('settings', { scope: 'file' }, () => ({ NODES: 'plain,plain' }))

async function openFromList(page: Page, name: string): Promise<void> {
  await page.goto('/vaults')
  await page.getByRole('link', { name }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

async function listedNames(page: Page): Promise<string[]> {
  await page.getByRole('rowheader').first().waitFor()
  return page.getByRole('rowheader').locator('strong').allTextContents()
}

describe('A visitor without a wallet', () => {
  test('sees the past, the yields and the terms of a vault before depositing', { timeout: 240_000 }, async ({
    visitor: { page },
  }) => {
    // The first page load waits until the sandbox has built the wallet.
    await page.goto('/vaults', { timeout: 120_000 })
    await openFromList(page, 'Harbor USDC')
    // A job may still be recording earlier prices, and the page loads them again only once a minute.
    await page.getByRole('slider', { name: 'Share price of Harbor USDC' }).waitFor({ timeout: 100_000 })
    for (const days of [7, 30, 90]) {
      const tile = page.locator('.tile', { hasText: `${days}-day yield` })
      await expect.poll(() => tile.textContent()).toMatch(/\d\.\d\d% APY/)
    }
    const terms = page.getByRole('region', { name: 'Terms' })
    expect(await terms.textContent()).toMatch(
      /DepositsAfter settlement.*WithdrawalsAfter settlement.*FeesNone.*Capacity/,
    )
    expect(await page.getByRole('region', { name: 'Contracts' }).textContent()).toMatch(
      /Code pinned since[A-Z][a-z]{2} \d+, \d{4}/,
    )
    expect(await page.getByRole('region', { name: 'Your position' }).count()).toBe(0)
  })

  test('chooses the yield or the total, over 30 days, 90 days or a year', async ({ visitor: { page } }) => {
    for (const [figure, range] of [
      ['Yield', '1 year'],
      ['In the vault', '90 days'],
    ] as const) {
      await page.getByRole('radio', { name: figure }).check()
      await page.getByRole('radio', { name: range }).check()
      await page.getByRole('slider', { name: `${figure} of Harbor USDC` }).waitFor()
    }
    const ends = await page.locator('figcaption .hidden').first().textContent()
    expect(ends).toMatch(/From [\d,.]+ USDC, [A-Z][a-z]{2} \d+, \d{4}/)
  })

  test('finds each contract in the explorer of its chain', async ({ visitor: { page } }) => {
    const [, , chainId, vault] = new URL(page.url()).pathname.split('/')
    const links = await page.getByRole('region', { name: 'Contracts' }).getByRole('link').all()
    expect(links).toHaveLength(4)
    const targets = await Promise.all(links.map((link) => link.getAttribute('href')))
    for (const target of targets) expect(target).toContain(`/sandbox/explorer/${chainId}/address/0x`)
    expect(targets[0]).toContain(`/address/${vault}`)
  })

  test('keeps the deposit box in view while scrolling, and sees it above the chart on a phone', async ({
    visitor: { page },
  }) => {
    const box = page.getByRole('region', { name: 'Deposit or withdraw' })
    await page.getByRole('region', { name: 'Contracts' }).scrollIntoViewIfNeeded()
    const [boxAt, header] = [await box.boundingBox(), await page.getByRole('banner').boundingBox()]
    expect(await page.evaluate('scrollY')).toBeGreaterThan(200)
    expect(boxAt?.y).toBeGreaterThanOrEqual(header?.height ?? 0)
    await page.setViewportSize(VIEWS[1].viewport)
    onTestFinished(() => page.setViewportSize(VIEWS[0].viewport))
    const [boxBelow, chart] = [await box.boundingBox(), await page.locator('.chart').boundingBox()]
    const figures = await page.locator('.tiles').first().boundingBox()
    expect(boxBelow?.y).toBeLessThan(chart?.y ?? 0)
    expect(boxBelow?.y).toBeGreaterThan(figures?.y ?? Number.POSITIVE_INFINITY)
  })

  test('sorts the vaults by yield, total and name, and the URL keeps the order', async ({ visitor: { page } }) => {
    await page.goto('/vaults')
    const yields = await page.getByRole('cell').filter({ hasText: '% APY' }).allTextContents()
    const percents = yields.map((text) => Number.parseFloat(text))
    expect(percents).toEqual(percents.toSorted((left, right) => right - left))
    await clickButton(page, /^Vault/)
    const names = await listedNames(page)
    expect(names).toEqual(names.toSorted())
    expect(await page.getByRole('columnheader', { name: /^Vault/ }).getAttribute('aria-sort')).toBe('ascending')
    await clickButton(page, /^Vault/)
    expect(await listedNames(page)).toEqual(names.toReversed())
    await page.reload()
    expect(await listedNames(page)).toEqual(names.toReversed())
    await clickButton(page, /^In the vault/)
    expect(await page.getByRole('columnheader', { name: /^In the vault/ }).getAttribute('aria-sort')).toBe('descending')
    expect(new URL(page.url()).search).toBe('?sort=total')
    expect(await page.getByRole('button', { name: 'My vaults' }).count()).toBe(0)
  })
})

describe('An account with deposits', () => {
  test('sees its deposits in the list, and filters by "My vaults"', async ({ visitor: { page } }) => {
    await page.goto('/account')
    await page.getByLabel('E-mail address').fill('holder@example.com')
    await clickButton(page, 'Sign up with a passkey')
    await clickButton(page, /Local account with a past/)
    await page.goto('/vaults')
    const all = await listedNames(page)
    const row = page.getByRole('row', { name: /Harbor USDC/ })
    await expect.poll(() => row.getByRole('cell').last().textContent()).toMatch(/^[\d,.]+ USDC( exactly|$)/)
    await clickButton(page, 'My vaults')
    await expect.poll(() => listedNames(page)).toEqual(expect.arrayContaining(['Harbor USDC', 'Tideline USDC']))
    const own = await listedNames(page)
    expect(own.length).toBeLessThan(all.length)
    await page.reload()
    await expect.poll(() => listedNames(page)).toEqual(own)
  })

  test('sees its position in four figures with its latest deposits and withdrawals', async ({ visitor: { page } }) => {
    await openFromList(page, 'Harbor USDC')
    const position = page.getByRole('region', { name: 'Your position' })
    await position.waitFor()
    await expect
      .poll(() => position.textContent())
      .toMatch(/Value[\d,.]+ USDC.*Earned\+?[\d,.]+ USDC.*Deposited[\d,.]+ USDC.*Withdrawn[\d,.]+ USDC/)
    const latest = position.getByRole('list', { name: 'Your latest deposits and withdrawals' })
    await latest.getByText('Withdrawal').first().waitFor()
    const hash = position.getByRole('link', { name: /transaction's hash/ }).first()
    expect(await hash.getAttribute('href')).toMatch(/\/sandbox\/explorer\/8453\/tx\/0x[0-9a-f]{64}$/)
  })
})

describe('During an outage', () => {
  test('the figures of a vault are dimmed with their time, and unknown terms have a reason', async ({
    visitor: { page },
    sandbox,
  }) => {
    onTestFinished(() => sandbox.control('chains/resume'))
    await sandbox.control('chains/stop', { chainId: 8453 })
    await openFromList(page, 'Harbor USDC')
    await page.locator('.tiles.stale').waitFor()
    await page.getByText('as of').first().waitFor()
    const terms = page.getByRole('region', { name: 'Terms' })
    expect(await terms.textContent()).toContain('The chain cannot be read at the moment.')
    await page.goto('/vaults')
    const row = page.getByRole('row', { name: /Harbor USDC/ })
    await row.getByText('Last known').waitFor()
    await row.getByText('as of').waitFor()
  })

  test('the chart says that the history is not available, and the rest of the page works', async ({
    visitor: { page },
    sandbox,
  }) => {
    const histories = `${sandbox.apiUrl}/**/history?*`
    onTestFinished(() => page.unroute(histories))
    await page.route(histories, (route) => route.abort())
    await openFromList(page, 'Cove USDC Savings')
    const history = page.getByRole('region', { name: 'Share price' })
    await history.getByRole('alert').waitFor()
    await page.getByRole('region', { name: 'Terms' }).getByText('Instant').first().waitFor()
    await page.getByLabel('Amount').waitFor()
    await page.unroute(histories)
    await page.getByRole('slider', { name: 'Share price of Cove USDC Savings' }).waitFor()
    expect(await history.getByRole('alert').count()).toBe(0)
  })
})

for (const { name: view, viewport, colorScheme } of VIEWS) {
  test(`The list and a vault's page are accessible: axe finds no violations (${view})`, async ({
    visitor: { page },
  }) => {
    await openFromList(page, 'Harbor USDC')
    const path = new URL(page.url()).pathname
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    for (const shown of ['/vaults', '/vaults?mine=1&sort=total', path]) {
      await page.goto(shown)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
      expect.soft(await listAxeViolations(page), shown).toEqual([])
      const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      expect.soft(excess, `${shown} is wider than the window`).toBeLessThanOrEqual(0)
    }
  })
}

test('No page threw, and none sent a request to another host', ({ visitor: { trouble } }) => {
  expect(trouble).toEqual([])
})
