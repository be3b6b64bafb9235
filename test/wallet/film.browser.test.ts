import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import * as z from 'zod'
import { clickButton, listAxeViolations, openVault, test, VIEWS } from '../support/wallet-film.ts'

// The tests of this file use the demo wallet of `npm start` in a real Chromium. A new user with a passkey moves tokens
// on two chains. The nodes have the limits of public nodes.

// The environment variable `FILM=<folder>` saves a screenshot of each page, at two widths, light and dark.
const PICTURES = process.env['FILM']

/** Paths of pages that one test opens and later tests open again, by name. */
const paths = new Map<string, string>()

describe('A newcomer', () => {
  test('signs up with a passkey, connects a local account and links it', async ({ visitor: { page } }) => {
    await page.goto('/account')
    await page.getByLabel('E-mail address').fill('newcomer@example.com')
    await clickButton(page, 'Sign up with a passkey')
    await page.getByText('Logged in as newcomer@example.com').waitFor()
    await clickButton(page, 'Fresh local account')
    await clickButton(page, 'Link this wallet')
    await page.getByRole('button', { name: 'Unlink' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('deposits into a vault that settles, reloads, and claims the shares', async ({ visitor, sandbox }) => {
    const { page } = visitor
    await openVault(page, 'Harbor USDC')
    paths.set('vault', new URL(page.url()).pathname)
    await page.getByLabel('Amount').fill('25')
    await clickButton(page, /^Approve 25 USDC/)
    await clickButton(page, /^Deposit 25 USDC/)
    await page.getByText('Waiting for the vault’s settlement').waitFor()
    await sandbox.control('vaults/settle')
    await page.reload()
    await clickButton(page, 'Claim')
    await page.getByRole('region', { name: 'Your deposit' }).waitFor({ state: 'detached' })
    await expect
      .poll(() => page.getByRole('region', { name: 'Your position' }).textContent())
      .toMatch(/(24\.9999|25) USDC/)
  })

  test('sees the finished deposit, and a developer sees its event', async ({ visitor, sandbox }) => {
    const { page } = visitor
    await sandbox.control('chains/advance', { seconds: 180 })
    await page.getByRole('navigation').getByRole('link', { name: 'Activity' }).click()
    const entry = page.getByRole('region', { name: 'Today' }).getByRole('group').filter({ hasText: 'Harbor USDC' })
    await entry.getByText('+25 USDC').waitFor()
    await clickButton(page, /^Events/)
    const delivery = page.getByRole('group').filter({ hasText: 'deposit.completed' }).first()
    await delivery.click()
    await delivery.getByText('signature valid').waitFor()
    await clickButton(page, 'Close')
    await openVault(page, 'Harbor USDC')
  })

  test('withdraws it after the next settlement', async ({ visitor, sandbox }) => {
    const { page } = visitor
    await clickButton(page, 'Withdraw')
    await clickButton(page, 'Max')
    await clickButton(page, /^Withdraw [\d.]+ USDC/)
    await page.getByText('The vault has your request. Follow it on this page.').waitFor()
    const request = page.getByRole('region', { name: 'Your withdrawal' })
    await request.getByText('Waiting for the vault’s settlement').waitFor()
    await sandbox.control('vaults/settle')
    await page.reload()
    await request.getByRole('button', { name: 'Claim' }).click()
    await request.waitFor({ state: 'detached' })
    const position = page.getByRole('region', { name: 'Your position' })
    await expect.poll(() => position.textContent()).toMatch(/Withdrawn(24\.9999|25) USDC/)
  })

  test('deposits from the other chain, and follows the transfer after a reload', async ({ visitor, sandbox }) => {
    const { page } = visitor
    await sandbox.control('transfers/hold')
    await openVault(page, 'Cove USDC Savings')
    await page.getByRole('combobox').selectOption({ label: 'USDC on Arbitrum' })
    await page.getByLabel('Amount').fill('30')
    await clickButton(page, /^Approve 30 USDC/)
    await clickButton(page, /^Send 30 USDC/)
    await page.waitForURL(/\/transfers\/42161\/0x/)
    paths.set('transfer', new URL(page.url()).pathname)
    await page.getByText('Sent on Arbitrum').waitFor()
    await page.reload()
    await sandbox.control('transfers/fill')
    await page.getByRole('link', { name: 'See your position' }).click()
    await expect.poll(() => page.getByRole('region', { name: 'Your position' }).textContent()).toContain('29.8')
  })
})

describe('A visitor', () => {
  test('withdraws to the other chain, up to the transfer', async ({ visitor: { page }, sandbox }) => {
    await openVault(page, 'Cove USDC Savings')
    await clickButton(page, 'Withdraw')
    await page.getByRole('combobox').selectOption({ label: 'USDC on Arbitrum' })
    await page.getByLabel('Amount').fill('20')
    await clickButton(page, /^Approve 20 USDC/)
    await clickButton(page, /^Withdraw 20 USDC/)
    await clickButton(page, /^Send 20 USDC/)
    await page.waitForURL(/\/transfers\/8453\/0x/)
    await sandbox.control('transfers/fill')
    await page.getByRole('link', { name: 'Back to the vault' }).click()
    await expect.poll(() => page.getByRole('region', { name: 'Your position' }).textContent()).toMatch(/9\.86\d+ USDC/)
  })

  test('sees a pending deposit again after a reload', async ({ visitor: { page }, sandbox }) => {
    onTestFinished(() => sandbox.control('chains/resume'))
    await openVault(page, 'Cove USDC Savings')
    await page.getByLabel('Amount').fill('7')
    await clickButton(page, /^Approve 7 USDC/)
    await page.getByRole('button', { name: /^Deposit 7 USDC/ }).waitFor()
    await sandbox.control('chains/hold', { chainId: 8453 })
    await clickButton(page, /^Deposit 7 USDC/)
    await page.getByText('Waiting for the chain').waitFor()
    await page.reload()
    const card = page.getByRole('region', { name: 'On its way' })
    await card.waitFor()
    await sandbox.control('chains/resume')
    await card.waitFor({ state: 'detached' })
    await expect.poll(() => page.getByRole('region', { name: 'Your position' }).textContent()).toMatch(/16\.86\d+ USDC/)
  })
})

test('A page immediately reloads the data that an event concerns', async ({ visitor: { page }, sandbox }) => {
  const received = '**/sandbox/webhooks/received*'
  const [vault] = sandbox.vaults
  const place = { chainId: vault?.chainId, vaultAddress: vault?.address }
  const data = {
    ...place,
    userAddress: sandbox.accounts.at(-1)?.address,
    transactionHash: null,
    depositId: null,
    entry: null,
    version: 1,
  }
  const event = {
    id: 'evt_1',
    type: 'deposit.completed',
    timestamp: new Date(),
    sequence: 1_000_000,
    final: true,
    data,
  }
  const arrival = {
    number: 1_000_000,
    id: 'evt_1',
    attempt: 1,
    isVerified: true,
    isTaken: true,
    status: 204,
    delayMs: 1,
  }
  // Nothing is pending, so the page does not poll.
  await page.goto('/activity')
  await page.getByText('Cove USDC Savings').first().waitFor()
  const again = page.waitForRequest(/\/deposits\?/)
  await page.route(received, (route) =>
    route.fulfill({ json: { received: [{ ...arrival, receivedAt: new Date(), event }] } }),
  )
  expect((await again).url()).toContain(sandbox.accounts.at(-1)?.address)
  await page.unroute(received)
})

test('A chart is drawn if Intl does not know the browser’s language', async ({ visitor }) => {
  const page = await visitor.page.context().newPage()
  onTestFinished(() => page.close())
  await page.addInitScript("Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })")
  await page.goto('/markets/ethereum')
  await expect.poll(() => page.locator('.uplot').isVisible()).toBe(true)
})

test('A page that opens by a click begins below the header', async ({ visitor: { page } }) => {
  await page.goto('/markets')
  await page.getByRole('heading', { name: 'Supported in this wallet' }).waitFor()
  await page.mouse.wheel(0, 400)
  await page.getByRole('navigation').getByRole('link', { name: 'Earn' }).click()
  const heading = await page.getByRole('heading', { level: 1, name: 'Earn' }).boundingBox()
  const header = await page.getByRole('banner').boundingBox()
  expect(heading?.y).toBeGreaterThan(header?.height ?? 0)
})

describe('During an outage', () => {
  test('a vault shows its last known state and a warning, then recovers', async ({ visitor: { page }, sandbox }) => {
    onTestFinished(() => sandbox.control('chains/resume'))
    await openVault(page, 'Harbor USDC')
    await sandbox.control('chains/stop', { chainId: 8453 })
    await page.reload()
    const warning = page.getByText('The chain of this vault cannot be read at the moment')
    await warning.waitFor()
    await expect.poll(() => page.getByText('as of').count()).toBeGreaterThan(0)
    await sandbox.control('chains/resume')
    await warning.waitFor({ state: 'detached' })
  })

  test('a deposit from another chain says that the bridge is unreachable, then recovers', async ({
    visitor,
    sandbox,
  }) => {
    const { page } = visitor
    onTestFinished(() => sandbox.control('sources/resume'))
    await sandbox.control('sources/fail', { source: 'bridge' })
    await openVault(page, 'Cove USDC Savings')
    await page.getByRole('combobox').selectOption({ label: 'USDC on Arbitrum' })
    await page.getByLabel('Amount').fill('31')
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toContain('cannot be reached at the moment')
    await sandbox.control('sources/resume')
    await clickButton(page, 'Try again')
    await page.getByRole('button', { name: /^(Approve|Send) 31 USDC/ }).waitFor()
  })

  test.for(['coingecko', 'defillama', 'lifi', 'goldrush', 'solana'])(
    'the portfolio and the markets show known data without %s',
    async (source, { visitor: { page }, sandbox }) => {
      onTestFinished(() => sandbox.control('sources/resume'))
      await sandbox.control('sources/fail', { source })
      for (const [path, linkName] of [
        ['/', 'Cove USDC Savings'],
        ['/markets', 'Ether'],
      ] as const) {
        await page.goto(path)
        await page.getByRole('link', { name: linkName }).first().waitFor()
        expect(await page.getByText('This page stopped working').count()).toBe(0)
      }
    },
  )

  test('a page says that the service is unreachable, then recovers', async ({ visitor: { page }, sandbox }) => {
    const service = `${sandbox.apiUrl}/**`
    await page.route(service, (route) => route.abort())
    await page.goto('/vaults')
    await page.getByText('You are offline, or we cannot be reached.').waitFor()
    await page.unroute(service)
    await clickButton(page, 'Try again')
    await page.getByRole('link', { name: 'Harbor USDC' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('a page repeats a throttled request and shows its data', async ({ visitor: { page }, sandbox }) => {
    await sandbox.control('api/throttle', { seconds: 10 })
    const throttled = page.waitForResponse((response) => response.status() === 429)
    await page.goto('/vaults')
    expect((await throttled).status()).toBe(429)
    await page.getByRole('link', { name: 'Harbor USDC' }).waitFor()
  })
})

describe('The server of the pages', () => {
  test('returns one page for every path of the wallet, and its code under immutable names', async ({ sandbox }) => {
    const page = await (await fetch(sandbox.walletUrl)).text()
    const answer = await fetch(`${sandbox.walletUrl}/vaults/8453/0x00`)
    expect(answer.headers.get('cache-control')).toBe('no-cache')
    expect(await answer.text()).toBe(page)
    const [, script = ''] = /<script type="module"[^>]* src="([^"]+)"/.exec(page) ?? []
    const asset = await fetch(`${sandbox.walletUrl}${script}`)
    expect(asset.headers.get('content-type')).toMatch(/^text\/javascript/)
    expect(asset.headers.get('cache-control')).toContain('immutable')
  })

  test('permits requests only to itself, the API and the chains', async ({ sandbox }) => {
    const { walletUrl, apiUrl, chains } = sandbox
    const policy = (await fetch(walletUrl)).headers.get('content-security-policy') ?? ''
    const config = await (await fetch(`${walletUrl}/config.json`)).json()
    const Config = z.object({ chains: z.array(z.object({ chainId: z.int(), rpcUrl: z.url() })) })
    const rpc = Config.parse(config).chains.map(({ rpcUrl }) => new URL(rpcUrl).origin)
    expect(rpc).toHaveLength(chains.length)
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining(["default-src 'self'", `connect-src ${["'self'", apiUrl, ...rpc].join(' ')}`]),
    )
    expect(policy).not.toMatch(/unsafe|\*/)
  })

  test('redirects to localhost, the host of the passkeys', async ({ sandbox: { walletUrl } }) => {
    const answer = await fetch(walletUrl.replace('localhost', '127.0.0.1'), { redirect: 'manual' })
    expect(answer.headers.get('location')).toBe(`${walletUrl}/`)
  })

  test.for(['/nothing.js', '/..%2fstate.json', '/assets/../../state.json'])(
    'has no file %s',
    async (path, { sandbox }) => {
      expect((await fetch(`${sandbox.walletUrl}${path}`)).status).toBe(404)
    },
  )
})

test('With NODES the service reads the chains at simulated providers', ({ sandbox: { chains } }) => {
  for (const { rpcUrl, nodeUrls } of chains) {
    expect(nodeUrls).toHaveLength(2)
    expect(nodeUrls).not.toContain(rpcUrl)
  }
})

describe('Every page', () => {
  const PAGES = [
    '/',
    '/vaults',
    'vault',
    'transfer',
    '/activity',
    '/markets',
    '/markets/ethereum',
    '/account',
    '/nowhere',
  ]

  for (const { name: view, viewport, colorScheme } of VIEWS.slice(0, PICTURES ? VIEWS.length : 2)) {
    test(`is accessible: axe finds no violations (${view})`, async ({ visitor: { page } }) => {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      for (const name of PAGES) {
        const path = paths.get(name) ?? name
        await page.goto(path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
        expect.soft(await listAxeViolations(page), path).toEqual([])
        const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect.soft(excess, `${path} is wider than the window`).toBeLessThanOrEqual(0)
        if (!PICTURES) continue
        mkdirSync(PICTURES, { recursive: true })
        const file = `${name.replaceAll('/', '') || 'home'}-${view}.png`
        await page.screenshot({ path: join(PICTURES, file), fullPage: true })
      }
    })
  }
})

test('No page threw, and none sent a request to another host', ({ visitor: { trouble } }) => {
  expect(trouble).toEqual([])
})
