import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import * as z from 'zod'
import { addAuthenticator } from './authenticator.ts'
import { test as base } from './browser.ts'
import { clearSandbox, freePort, readStateFile, startSandbox } from './sandbox.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Window sizes and colour schemes of the screenshots. */
export const VIEWS = [
  { name: '1280-light', viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  { name: '390-dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  { name: '1280-dark', viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  { name: '390-light', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
] as const

const State = z.object({
  walletUrl: z.url(),
  baseUrl: z.url(),
  apiKey: z.string(),
  controlsUrl: z.url(),
  accounts: z.array(z.object({ address: z.string() })).min(1),
  vaults: z.array(z.object({ chainId: z.int(), address: z.string() })).min(1),
  chains: z.array(z.object({ chainId: z.int(), rpcUrl: z.url(), nodeUrls: z.array(z.url()) })),
})

/**
 * Test fixtures that run `npm start` with nodes that have public nodes' request limits. One visitor with a virtual
 * authenticator uses the wallet.
 */
export const test = base
  /** Environment variables of `npm start`. A test file may override them. */
  .extend('settings', { scope: 'file' }, (): Readonly<Record<string, string>> => ({ PAST: 'none' }))
  .extend('sandbox', { scope: 'file' }, async ({ settings }, { onCleanup }) => {
    const [PORT, WALLET_PORT] = [`${await freePort()}`, `${await freePort()}`]
    const sandbox = await startSandbox({ NODES: 'base.org,publicnode', PORT, WALLET_PORT, ...settings })
    onCleanup(() => clearSandbox(sandbox))
    const { walletUrl, baseUrl, apiKey, controlsUrl, chains, accounts, vaults } = State.parse(readStateFile(sandbox))
    return {
      walletUrl,
      apiUrl: baseUrl,
      apiKey,
      ...{ chains, accounts, vaults },
      async control(name: string, body: object = {}) {
        const reply = await fetch(`${controlsUrl}/${name}`, { method: 'POST', body: JSON.stringify(body) })
        expect(reply.status, await reply.text()).toBe(200)
      },
    }
  })
  /** One browser visitor for all tests of the file. The first test creates the visitor's account and wallet. */
  .extend('visitor', { scope: 'file' }, async ({ browser, sandbox }, { onCleanup }) => {
    const context = await browser.newContext({
      baseURL: sandbox.walletUrl,
      viewport: VIEWS[0].viewport,
      locale: 'en-US',
    })
    onCleanup(() => context.close())
    const page = await context.newPage()
    page.setDefaultTimeout(40_000)
    const authenticator = await addAuthenticator(page, { isSynced: true })
    const trouble: string[] = []
    page.on('pageerror', ({ message }) => trouble.push(message))
    page.on('request', (request) => {
      if (new URL(request.url()).hostname !== 'localhost' && !isLocal(request.url())) trouble.push(request.url())
    })
    return { page, authenticator, trouble }
  })

function isLocal(url: string): boolean {
  return /^(data|blob):/.test(url) || /^http:\/\/(localhost|127\.0\.0\.1)[:/]/.test(url)
}

/** Clicks the button with this name. */
export async function clickButton(page: Page, name: RegExp | string): Promise<void> {
  await page.getByRole('button', { name }).click()
}

/** Opens the page of a vault by the vault's name, from any page of the wallet. */
export async function openVault(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: 'Earn' }).click()
  await page.getByRole('link', { name }).click()
  await page.getByLabel('Amount').waitFor()
}

/** Returns the accessibility violations that axe finds on the current page. */
export async function listAxeViolations(page: Page): Promise<string[]> {
  // axe runs by `evaluate`, because the page's content security policy blocks added script elements.
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    // @ts-expect-error: the script has put it there.
    const { violations } = await window.axe.run()
    return violations.flatMap(({ id, nodes }: { id: string; nodes: { html: string }[] }) =>
      nodes.map(({ html }) => `${id}: ${html}`),
    )
  })
}
