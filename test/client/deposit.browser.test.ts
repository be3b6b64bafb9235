import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { test as base } from '../support/browser.ts'
import { checkSnippets, extractGuide } from '../support/guides.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The fixture `script` bundles the code block of client/README.md and the React components for a web page. */
const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('guide', { scope: 'file' }, ({}) => extractGuide('client/README.md', {}))
  .extend('script', { scope: 'file' }, async ({ guide }) => {
    const { outputFiles } = await build({
      stdin: {
        contents: `import { createElement, StrictMode } from 'react'
          import { createRoot } from 'react-dom/client'
          import { Deposit, Withdrawal } from '@vaultline/client/react'
          import { DepositCard } from './deposit.tsx'
          const components = { Deposit, Withdrawal, DepositCard }
          globalThis.show = (name, props) => createRoot(document.body)
            .render(createElement(StrictMode, null, createElement(components[name], props)))`,
        resolveDir: guide.folder,
      },
      bundle: true,
      write: false,
      jsx: 'automatic',
      define: { 'process.env.NODE_ENV': '"development"' },
    })
    return outputFiles[0]?.text ?? ''
  })
  /** Opens a page with a React component. A script in the page gives the API's responses. */
  .extend('show', ({ open, script }) => async (name: string, responses: string, props = '{}'): Promise<Page> => {
    const page = await open('http://localhost:3000')
    await page.addScriptTag({ content: script })
    await page.evaluate(`
      globalThis.sent = 0
      globalThis.asked = []
      globalThis.ended = 0
      const call = { to: '0x1', data: '0x', value: '0' }
      const terms = { chainId: 8453, simulation: { status: 'success' } }
      const refuse = (status, body) => Response.json({ success: false, message: '', ...body }, { status })
      const responses = ${responses}
      show('${name}', {
        client: {
          url: 'https://api.example',
          key: 'jk',
          fetch: async (url, { body }) => {
            const path = new URL(url).pathname.replace('/defi-vaults/v1/', '')
            asked.push([path, JSON.parse(body ?? '{}')])
            const response = responses[path]()
            return response instanceof Response ? response : Response.json(response)
          },
        },
        sender: {
          send: () => new Promise((resolve) => setTimeout(() => resolve('0x' + ++sent), 100)),
          wait: async (transactionHash) => ({ status: 'success', transactionHash }),
        },
        vault: {
          poolAddress: '0x1', chainId: 8453, asset: { symbol: 'USDC', decimals: 6 }, shareDecimals: 18,
          vaultState: { symbol: 'vUSDC' }, terms: { exit: 'instant' },
        },
        account: '0x2',
        onDone: () => ended++,
        ...${props},
      })`)
    return page
  })

const DEPOSIT = `{ 'defi/vault/deposit': () => ({
  ...terms, approval: sent ? [] : [call], operations: [call], isAsync: false,
  deposit: { shares: '4999999999999999999', fee: '1234', assets: '5000000', isEstimate: true },
}) }`

async function violations(page: Page): Promise<unknown> {
  await page.addScriptTag({ content: AXE })
  return page.evaluate("axe.run('section').then(({ violations }) => violations.map(({ id }) => id))")
}

test('The snippet of the README compiles by the strictest settings', ({ guide }) => {
  expect(() => checkSnippets(guide, 'strictest.json')).not.toThrow()
})

test('A user types an amount, reviews its terms, and takes one step with each click', async ({ show }) => {
  const page = await show('DepositCard', DEPOSIT)
  const next = page.locator('[data-vaultline=next]')
  const steps = page.locator('[data-vaultline=step]')
  await page.getByLabel('Amount in USDC').fill('5.0000001')
  await next.click()
  expect(await page.getByRole('alert').textContent()).toBe('Enter an amount above zero with at most 6 decimals.')
  expect(await violations(page)).toEqual([])
  await page.getByLabel('Amount in USDC').fill('5')
  await page.keyboard.press('Enter')

  await page.getByRole('button', { name: 'Approve 5 USDC' }).waitFor()
  const terms = await page.locator('[data-vaultline=term]').allTextContents()
  expect(terms).toEqual([
    'You deposit5 USDC',
    'You receiveabout 4.99999 vUSDC',
    'Vault fee0.001234 USDC',
    'Network feeShown by your wallet',
    'ArrivalInstant',
    'SimulationPassed',
  ])
  expect(await violations(page)).toEqual([])
  await next.dblclick()
  await page.getByRole('button', { name: 'Deposit 5 USDC' }).waitFor()
  expect(await steps.allTextContents()).toEqual([expect.stringMatching(/^Approve: Done View transaction$/), 'Deposit'])
  expect(await page.getByRole('link').getAttribute('href')).toBe('https://blockscan.com/tx/0x1?chain=8453')
  // The keyboard focus stays on the button, which now starts the next step.
  expect(await page.evaluate('document.activeElement.dataset.vaultline')).toBe('next')
})

test('A deposit ends after its last step, and notifies the page once', async ({ show }) => {
  const page = await show('Deposit', DEPOSIT, "{ amount: '5000000' }")
  await page.getByRole('button', { name: 'Approve 5 USDC' }).click()
  await page.getByRole('button', { name: 'Deposit 5 USDC' }).click()
  await page.getByText('Deposit done').waitFor()
  expect(await page.getByRole('button').count()).toBe(0)
  expect(await page.evaluate('[sent, ended]')).toEqual([2, 1])
})

test('An amount that is not in the smallest unit shows an error beside its field', async ({ show }) => {
  for (const amount of ['max', '1.5', '', '0', '-1']) {
    const page = await show('Deposit', DEPOSIT, `{ amount: '${amount}' }`)
    expect(await page.getByRole('alert').textContent()).toBe(
      'The amount of this deposit must be a whole number above zero, in the smallest unit of USDC.',
    )
    expect(await page.getByRole('button').count()).toBe(0)
    expect(await page.evaluate('asked')).toEqual([])
  }
  const page = await show('Withdrawal', '{}', "{ amount: '1.5' }")
  expect(await page.getByRole('alert').textContent()).toMatch(/USDC, or max\.$/)
  expect(await violations(page)).toEqual([])
})

test('A user can change a reviewed amount', async ({ show }) => {
  const page = await show('Deposit', DEPOSIT)
  await page.getByLabel('Amount in USDC').fill('5')
  await page.getByRole('button', { name: 'Review deposit' }).click()
  await page.getByRole('button', { name: 'Change amount' }).click()
  expect(await page.evaluate('document.activeElement.tagName')).toBe('INPUT')
  await page.getByLabel('Amount in USDC').fill('6')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Approve 6 USDC' }).waitFor()
})

test('An error of the API shows its text with the amount that works', async ({ show }) => {
  const refused = `{ 'defi/vault/deposit': () => refuse(400, {
    code: 'vault_cap_reached', details: [{ field: 'amount', issue: '', atMost: '2500000' }],
  }) }`
  const page = await show('Deposit', refused, "{ amount: '5000000' }")
  expect(await page.getByRole('alert').textContent()).toBe(
    'This vault is nearly full. Try a smaller amount. At most 2.5 USDC.',
  )
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  expect(await violations(page)).toEqual([])
})

test('A deposit that would fail requests no signature', async ({ show }) => {
  const reverting = DEPOSIT.replace('...terms', "...terms, simulation: { status: 'reverted', reason: 'Paused' }")
  const page = await show('Deposit', reverting, "{ amount: '5000000' }")
  expect(await page.getByRole('alert').textContent()).toBe('This would fail now: Paused')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  expect(await page.evaluate('sent')).toBe(0)
})

test('An error of the wallet shows its first line, and a rejected signature shows none', async ({ show }) => {
  const throws = (error: string) => `{ amount: '5000000', sender: { send: async () => { throw ${error} } } }`
  const failing = await show('Deposit', DEPOSIT, throws("new Error('No gas.\\nRequest: …')"))
  await failing.getByRole('button', { name: 'Approve 5 USDC' }).click()
  expect(await failing.getByRole('alert').textContent()).toBe('Your wallet reports: No gas.')
  const rejecting = await show('Deposit', DEPOSIT, throws('{ code: 4001 }'))
  await rejecting.getByRole('button', { name: 'Approve 5 USDC' }).click()
  await rejecting.getByRole('button', { name: 'Approve 5 USDC' }).waitFor()
  expect(await rejecting.getByRole('alert').count()).toBe(0)
})

test('A request waits for its settlement, then is claimed', async ({ show }) => {
  const asynchronous = `{
    'defi/vault/deposit': () => ({
      ...terms, approval: [], operations: [call], isAsync: true,
      deposit: { shares: null, fee: '0', assets: '5000000', isEstimate: true },
    }),
    'defi/vault/0x1/deposit-status': () => ({
      status: globalThis.settled ? 'claimable' : 'pending', statusDescription: 'Waits for the next settlement.',
      nextPollAfterMs: globalThis.settled ? null : 100,
    }),
    'defi/vault/claim': () => ({ ...terms, approval: [], operations: [call], isAsync: false }),
  }`
  const page = await show('Deposit', asynchronous, "{ amount: '5000000' }")
  await page.getByText('– (the vault has no price now)').waitFor()
  await page.getByRole('button', { name: 'Request deposit 5 USDC' }).click()
  await page.getByText('Waits for the next settlement.').waitFor()
  expect(await page.locator('[data-vaultline=step]').allTextContents()).toEqual([
    'Request deposit: Done',
    'Wait for settlement: In progress',
    'Claim',
  ])
  expect(await violations(page)).toEqual([])
  await page.evaluate('globalThis.settled = true')
  await page.getByRole('button', { name: 'Claim' }).click()
  await page.getByText('Deposit done').waitFor()
})

test('A user withdraws everything', async ({ show }) => {
  const paying = `{ 'defi/vault/withdraw': () => ({
    ...terms, approval: [], operations: [call], isAsync: false,
    withdrawal: { shares: '5000000000000000000', assets: '5123456', fee: '0', isEstimate: false },
  }) }`
  const page = await show('Withdrawal', paying)
  await page.getByRole('button', { name: 'Max' }).click()
  await page.getByRole('button', { name: 'Withdraw' }).waitFor()
  const terms = await page.locator('[data-vaultline=term]').allTextContents()
  expect(terms.slice(0, 3)).toEqual(['You redeem5 vUSDC', 'You receive5.12345 USDC', 'Vault feeNone'])
  await page.getByRole('button', { name: 'Withdraw' }).click()
  await page.getByText('Withdrawal done').waitFor()
  expect(await page.evaluate('asked[0][1]')).toEqual({
    ...{ vaultAddress: '0x1', chainId: 8453, userAddress: '0x2', max: true },
  })
})
