import type { Page, Request } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import { clickButton, listAxeViolations, test, VIEWS } from '../support/wallet-film.ts'

// The tests of this file use the control page of `npm start` in a real Chromium. The page controls the local service
// and shows the demo wallet in a frame.

const walletOf = (page: Page) => page.frameLocator('iframe')

async function openGroup(page: Page, name: string): Promise<void> {
  await page.getByRole('radio', { name, exact: true }).check()
}

async function use(page: Page, title: string, choices: Readonly<Record<string, string>> = {}): Promise<void> {
  const form = page.getByRole('form', { name: title, exact: true })
  for (const [field, label] of Object.entries(choices)) await form.getByLabel(field).selectOption({ label })
  await form.getByRole('button', { name: title, exact: true }).click()
}

async function openVault(page: Page, name: string): Promise<void> {
  const wallet = walletOf(page)
  await wallet.getByRole('navigation').getByRole('link', { name: 'Earn' }).click()
  await wallet.getByRole('link', { name }).click()
  await wallet.getByLabel('Amount').waitFor()
}

test('A browser that opens the list of controls gets the control room, a program gets JSON', async ({
  visitor: { page },
  sandbox,
}) => {
  const reply = await fetch(`${sandbox.apiUrl}/sandbox`)
  expect(await reply.json()).toMatchObject({ controls: expect.arrayContaining([expect.anything()]) })
  await page.goto(`${sandbox.apiUrl}/sandbox`)
  expect(page.url()).toBe(`${sandbox.walletUrl}/sandbox`)
  await page.getByRole('heading', { level: 1, name: 'Control room' }).waitFor()
  await walletOf(page).getByRole('heading', { level: 1 }).waitFor()
})

test('A page of another site cannot show the wallet in a frame', async ({ sandbox }) => {
  const { headers } = await fetch(sandbox.walletUrl)
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
})

describe('In the control room', () => {
  test('a newcomer signs up in the frame with a passkey, and the requests show', async ({ visitor: { page } }) => {
    await page.goto('/sandbox')
    const wallet = walletOf(page)
    await wallet.getByRole('banner').getByRole('link', { name: 'Get started' }).click()
    await wallet.getByLabel('E-mail address').fill('room@example.com')
    await wallet.getByRole('button', { name: 'Sign up with a passkey' }).click()
    await wallet.getByRole('button', { name: 'Fresh local account' }).click()
    await wallet.getByRole('button', { name: 'Link this wallet' }).click()
    await wallet.getByRole('button', { name: 'Unlink' }).waitFor()
    const request = page.getByRole('region', { name: 'Requests' }).getByRole('group').filter({ hasText: 'POST /auth' })
    await request.first().click()
    await request.first().getByRole('button', { name: /curl/ }).waitFor()
    expect(await wallet.getByRole('alert').count()).toBe(0)
  })

  test('the wallet refuses a response changed in transit and requests no signature, until the control ends', async ({
    visitor: { page },
  }) => {
    const urls: string[] = []
    const note = (request: Request) => {
      if (/eth_sendTransaction|wallet_sendCalls/.test(request.postData() ?? '')) urls.push(request.url())
    }
    page.on('request', note)
    onTestFinished(() => void page.off('request', note))
    await openGroup(page, 'The API')
    await use(page, 'Tamper')
    const end = page.getByRole('button', { name: 'End: Responses are changed on their way' })
    await end.waitFor()
    await openVault(page, 'Cove USDC Savings')
    const wallet = walletOf(page)
    await wallet.getByLabel('Amount').fill('3')
    const alert = wallet.getByRole('alert')
    await alert.getByText('does not fit your request, so it was not sent to your wallet').waitFor()
    expect(await wallet.getByRole('button', { name: /^(Approve|Deposit) 3 USDC/ }).count()).toBe(0)
    await wallet.getByRole('button', { name: 'Try again' }).click()
    await alert.waitFor()
    expect(urls).toEqual([])
    await end.click()
    await end.waitFor({ state: 'detached' })
    await wallet.getByRole('button', { name: 'Try again' }).click()
    await wallet.getByRole('button', { name: /^(Approve|Deposit) 3 USDC/ }).waitFor()
  })

  test('a settlement makes a deposit ready to claim, and its event arrives', async ({ visitor: { page } }) => {
    await openVault(page, 'Harbor USDC')
    const wallet = walletOf(page)
    await wallet.getByLabel('Amount').fill('25')
    await wallet.getByRole('button', { name: /^Approve 25 USDC/ }).click()
    await wallet.getByRole('button', { name: /^Deposit 25 USDC/ }).click()
    await wallet.getByText('Waiting for the vault’s settlement').waitFor()
    await openGroup(page, 'A vault')
    await use(page, 'Settle', { Vault: 'Harbor USDC on Base' })
    await wallet.getByRole('button', { name: 'Claim' }).waitFor()
    const events = page.getByRole('region', { name: 'Events' })
    const delivery = events.getByRole('group').filter({ hasText: 'deposit.claimable' }).first()
    await delivery.click()
    await delivery.getByText('signature valid').waitFor()
    expect(await delivery.textContent()).toContain('"type": "deposit.claimable"')
  })

  test('a reorganisation undoes a deposit, and its event is reverted', async ({ visitor: { page } }) => {
    await openVault(page, 'Cove USDC Savings')
    const wallet = walletOf(page)
    await wallet.getByLabel('Amount').fill('4')
    await wallet.getByRole('button', { name: /^Approve 4 USDC/ }).click()
    await wallet.getByRole('button', { name: /^Deposit 4 USDC/ }).click()
    const events = page.getByRole('region', { name: 'Events' })
    await events.getByText('deposit.completed').first().waitFor()
    await openGroup(page, 'A chain')
    await use(page, 'Reorganise', { Chain: 'Base' })
    await expect.poll(() => events.textContent()).toContain('deposit.reverted')
  })

  test('the wallet shows that a chain cannot be read, until the control ends', async ({ visitor: { page } }) => {
    await openVault(page, 'Harbor USDC')
    await openGroup(page, 'A chain')
    await use(page, 'Stop', { Chain: 'Base' })
    const end = page.getByRole('button', { name: 'End: Base cannot be read' })
    await end.waitFor()
    // The list of active controls stays visible in every group of controls.
    await openGroup(page, 'Money')
    await openVault(page, 'Harbor USDC')
    const warning = walletOf(page).getByText('The chain of this vault cannot be read at the moment')
    await warning.waitFor()
    await end.click()
    await warning.waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: /^End/ }).count()).toBe(0)
  })

  test('with a lying host the API returns 503 for a deposit, and the wallet requests no signature', async ({
    visitor: { page },
  }) => {
    await openGroup(page, 'Nodes')
    await use(page, 'Lie', { Chain: 'Base' })
    await page.getByRole('button', { name: 'End: One of two hosts of Base lies' }).waitFor()
    await openVault(page, 'Cove USDC Savings')
    const wallet = walletOf(page)
    await wallet.getByLabel('Amount').fill('5')
    await wallet.getByRole('alert').first().waitFor()
    expect(await wallet.getByRole('button', { name: /^(Approve|Deposit) 5 USDC/ }).count()).toBe(0)
    const requests = page.getByRole('region', { name: 'Requests' })
    await requests.getByRole('group').filter({ hasText: '503 POST' }).first().waitFor()
    const end = page.getByRole('button', { name: /^End: One of two hosts/ })
    await end.click()
    await end.waitFor({ state: 'detached' })
    await wallet.getByRole('button', { name: 'Try again' }).click()
    await wallet.getByRole('button', { name: /^(Approve|Deposit) 5 USDC/ }).waitFor()
  })

  test('a host far behind prevents deposits, and a host two blocks behind does not', async ({ visitor, sandbox }) => {
    onTestFinished(() => sandbox.control('nodes/resume'))
    const { page } = visitor
    await openGroup(page, 'Nodes')
    await page.getByRole('spinbutton', { name: 'Blocks' }).fill('500')
    await use(page, 'Lag', { Chain: 'Base' })
    await openVault(page, 'Cove USDC Savings')
    const wallet = walletOf(page)
    await wallet.getByLabel('Amount').fill('6')
    await wallet.getByRole('alert').first().waitFor()
    await page.getByRole('spinbutton', { name: 'Blocks' }).fill('2')
    await use(page, 'Lag', { Chain: 'Base' })
    await page.getByText('is 2 blocks behind').waitFor()
    expect(await page.getByText('is 500 blocks behind').count()).toBe(0)
    await wallet.getByRole('button', { name: 'Try again' }).click()
    await wallet.getByRole('button', { name: /^(Approve|Deposit) 6 USDC/ }).waitFor()
  })

  test('a receiver that refuses shows failed deliveries', async ({ visitor, sandbox }) => {
    const { page } = visitor
    onTestFinished(() => sandbox.control('webhooks/resume'))
    await openGroup(page, 'Webhooks')
    await use(page, 'Refuse')
    await page.getByRole('button', { name: 'End: The receiver responds 503' }).waitFor()
    await openVault(page, 'Cove USDC Savings')
    const wallet = walletOf(page)
    await wallet.getByLabel('Amount').fill('8')
    await wallet.getByRole('button', { name: /^Approve 8 USDC/ }).click()
    await wallet.getByRole('button', { name: /^Deposit 8 USDC/ }).click()
    const deliveries = page.getByRole('region', { name: 'Events' }).getByRole('group')
    await deliveries.filter({ hasText: '503 deposit.completed' }).first().waitFor()
    await clickButton(page, 'End: The receiver responds 503')
    await expect.poll(() => page.getByRole('button', { name: /^End/ }).count()).toBe(0)
  })

  test('the wallet shows that a vault is paused, until the control ends', async ({ visitor: { page } }) => {
    await openGroup(page, 'A vault')
    await use(page, 'Pause', { Vault: 'Cove USDC Savings on Base' })
    const end = page.getByRole('button', { name: 'End: Cove USDC Savings is paused' })
    await end.waitFor()
    await openVault(page, 'Cove USDC Savings')
    const wallet = walletOf(page)
    await wallet.getByLabel('Amount').fill('9')
    await wallet
      .getByText(/paused/i)
      .first()
      .waitFor()
    expect(await wallet.getByRole('button', { name: /^(Approve|Deposit) 9 USDC/ }).count()).toBe(0)
    await end.click()
    await end.waitFor({ state: 'detached' })
  })

  test('a changed vault takes no deposits, and the wallet offers no retry, until it is confirmed', async ({
    visitor: { page },
    sandbox,
  }) => {
    await openGroup(page, 'A vault')
    await use(page, 'Upgrade', { Vault: 'Harbor USDC on Base' })
    await openVault(page, 'Harbor USDC')
    const wallet = walletOf(page)
    await wallet.getByLabel('Amount').fill('3')
    await wallet.getByText('Being checked', { exact: true }).waitFor()
    await wallet.getByText('has changed and is being checked').first().waitFor()
    await expect.poll(() => wallet.getByRole('button', { name: /3 USDC|Try again/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'End: Harbor USDC has changed' }).click()
    const userAddress = sandbox.accounts[0]?.address
    const [, , , vaultAddress] = new URL(page.frames()[1]?.url() ?? '').pathname.split('/')
    const prepare = async () => {
      const reply = await fetch(`${sandbox.apiUrl}/defi-vaults/v1/defi/vault/deposit`, {
        method: 'POST',
        headers: { 'x-join-key': sandbox.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ vaultAddress, userAddress, amount: '1000000' }),
      })
      return reply.status
    }
    await expect.poll(prepare).toBe(200)
  })

  test('a control that is impossible says why', async ({ visitor: { page } }) => {
    await openGroup(page, 'A vault')
    await use(page, 'Upgrade', { Vault: 'Cove USDC Savings on Base' })
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('is no proxy')
  })

  test('an account gets the amount that is typed in tokens', async ({ visitor, sandbox }) => {
    const { page } = visitor
    await openGroup(page, 'Money')
    const [to] = sandbox.accounts
    await page.getByLabel('Amount').fill('1.5')
    const minted = page.waitForRequest(/accounts\/mint$/)
    await use(page, 'Mint', { Token: 'USDC on Base', Account: 'Account 1' })
    expect((await minted).postDataJSON()).toEqual({
      ...{ chainId: 8453, token: expect.stringMatching(/^0x/), amount: '1500000', to: to?.address },
    })
    await page.getByText('Done').waitFor()
  })

  test('a prepared state shows its account with its key, and the visitor’s own wallet returns afterwards', async ({
    visitor: { page },
    sandbox,
  }) => {
    const room = `${sandbox.apiUrl}/sandbox`
    onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }))
    const account = sandbox.accounts[1]?.address ?? ''
    await page.route(room, async (route) => {
      const response = await route.fetch()
      const { apiKey } = sandbox
      const state = { name: 'second account', does: 'The second account.', account, apiKey, page: '/vaults' }
      await route.fulfill({ response, json: { ...(await response.json()), states: [state] } })
    })
    await page.goto('/sandbox')
    await openGroup(page, 'Prepared states')
    await clickButton(page, 'Show: second account')
    const wallet = walletOf(page)
    const banner = wallet.getByRole('banner')
    await banner.getByText(account.slice(0, 6)).waitFor()
    await wallet.getByRole('heading', { level: 1, name: 'Earn' }).waitFor()
    await clickButton(page, 'Back to your wallet')
    await banner.getByText(sandbox.accounts.at(-1)?.address.slice(0, 6) ?? '').waitFor()
    expect(await banner.textContent()).not.toContain(account.slice(0, 6))
  })
})

describe('The explorer of the sandbox', () => {
  test('shows a transaction with its events, and an account with its tokens', async ({
    visitor: { page },
    sandbox,
  }) => {
    const [chain] = sandbox.chains
    const [vault] = sandbox.vaults
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getLogs',
      params: [{ fromBlock: '0x0', address: vault?.address }],
    }
    const rpcUrl = sandbox.chains.find(({ chainId }) => chainId === vault?.chainId)?.rpcUrl ?? ''
    const reply = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const { result } = (await reply.json()) as { result: { transactionHash: string }[] }
    await page.goto(`/sandbox/explorer/${vault?.chainId}/tx/${result.at(-1)?.transactionHash}`)
    await page.getByText('success').waitFor()
    await page.getByRole('heading', { name: /^Events \([1-9]/ }).waitFor()
    expect(await listAxeViolations(page)).toEqual([])
    await page.goto(`/sandbox/explorer/${chain?.chainId}/address/${sandbox.accounts[0]?.address}`)
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
    await page.getByText('USDC').first().waitFor()
    expect(await listAxeViolations(page)).toEqual([])
  })

  test('says that a chain does not know a transaction', async ({ visitor: { page } }) => {
    await page.goto(`/sandbox/explorer/8453/tx/0x${'ab'.repeat(32)}`)
    await expect.poll(() => page.getByRole('main').textContent()).toContain('does not know the transaction')
  })
})

test.for(VIEWS)(
  'The control room has no violations of axe, and does not overflow, at $name',
  async (view, { visitor: { page } }) => {
    await page.setViewportSize(view.viewport)
    await page.emulateMedia({ colorScheme: view.colorScheme })
    await page.goto('/sandbox')
    await walletOf(page).getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('radio').first().waitFor()
    for (const group of await page.getByRole('radio').all()) {
      await group.check()
      expect(await listAxeViolations(page)).toEqual([])
      expect(
        await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
      ).toBeLessThanOrEqual(0)
    }
  },
)

test('No request left the machine, and no page threw', ({ visitor: { trouble } }) => {
  expect(trouble).toEqual([])
})
