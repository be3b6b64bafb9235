import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import type { SiteOptions } from '../../sandbox/built-site.ts'
import { startGateway } from '../../sandbox/gateway.ts'
import { serveDocs } from '../../sandbox/start/docs.ts'
import { test as base } from '../support/browser.ts'

const BUILT = 'dist/docs'
const MAX_BYTES = 1_000_000
/** Page script that returns the uncompressed size of everything the page has loaded, in bytes. */
const LOADED = `['navigation', 'resource']
  .flatMap((type) => performance.getEntriesByType(type))
  .reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)`

const FILES: Readonly<Record<string, string>> = {
  'index.html': '<!doctype html><title>Site</title><script src="/docs/assets/app.js"></script><body>',
  'assets/app.js': `fetch('/docs/config.json')
    .then((response) => response.json())
    .then(async ({ apiUrl, apiKey }) => {
      const url = new URL('/defi-vaults/v1/vaults', new URL(apiUrl, location))
      const response = await fetch(url, { headers: { 'x-join-key': apiKey } })
      document.body.textContent = (await response.json()).code
    })`,
  'guides/deposits.md': '# Deposits\n',
  '404.html': '<!doctype html>No such page',
}

function writeFiles(folder: string): void {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

type Site = Pick<SiteOptions, 'folder'> & Partial<SiteOptions>

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('folder', ({}, { onCleanup }) => {
    const folder = mkdtempSync(join(tmpdir(), 'docs-'))
    onCleanup(() => rmSync(folder, { recursive: true }))
    return folder
  })
  /** Starts the API and its documentation site as `npm start` does. The API key belongs to a client without vaults. */
  .extend('startSite', async ({ sharedService: { createClient } }, { onCleanup }) => async (site: Site) => {
    const apiKey = await createClient([])
    const beside = serveDocs({ apiKey, folder: site.folder, path: undefined }, { sources: [], ...site })
    const { url, stop } = await startGateway({ port: 0, cors: { allowOrigins: [] }, schedule: false }, beside)
    onCleanup(stop)
    return url.replace('127.0.0.1', 'localhost')
  })
  .extend('page', async ({ browser }, { onCleanup }): Promise<Page> => {
    const context = await browser.newContext({ permissions: ['local-network-access'], locale: 'en-US' })
    onCleanup(() => context.close())
    return context.newPage()
  })

test('The local service’s root redirects to the documentation, which has the key and forbids framing', async ({
  startSite,
  folder,
  page,
}) => {
  writeFiles(folder)
  const site = await startSite({ folder })
  await page.goto(site)
  expect(page.url()).toBe(`${site}/docs/`)
  await page.getByText('no_vaults_configured').waitFor()
  const { headers } = await fetch(page.url())
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
})

test('The documentation serves its pages’ Markdown, a not-found page, and nothing outside its folder', async ({
  startSite,
  folder,
}) => {
  writeFiles(join(folder, 'site'))
  writeFileSync(join(folder, 'secret.txt'), 'secret')
  const site = await startSite({ folder: join(folder, 'site') })
  const markdown = await fetch(`${site}/docs/guides/deposits.md`)
  expect([markdown.headers.get('content-type'), await markdown.text()]).toEqual([
    'text/plain; charset=utf-8',
    '# Deposits\n',
  ])
  for (const path of ['/docs/nothing', '/docs/toString', '/docs/guides', '/docs/..%2fsecret.txt', '/docs/%2e%2e/x']) {
    expect((await fetch(site + path)).status, path).toBe(404)
  }
  expect((await fetch(`${site}/docsx`)).status).toBe(404)
  expect((await fetch(site, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${site}/health`)).status).toBe(200)
})

test('The first request builds the documentation once, says so, and shows it when it is ready', async ({
  startSite,
  folder,
  page,
}) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const build = vi.fn(async () => {
    await promise
    writeFiles(folder)
  })
  await page.goto(await startSite({ folder, build }))
  await page.getByText('The documentation is being built.').waitFor()
  await page.reload()
  resolve()
  await page.getByText('no_vaults_configured').waitFor()
  expect(build).toHaveBeenCalledTimes(1)
})

test('A failed build shows its reason and the Markdown’s location, and a reload retries it', async ({
  startSite,
  folder,
  page,
}) => {
  const build = vi.fn(async () => writeFiles(folder))
  build.mockRejectedValueOnce(new Error('ECONNREFUSED <registry>'))
  await page.goto(await startSite({ folder, build }))
  await page.getByText('ECONNREFUSED <registry>').waitFor()
  await page.getByText(join(process.cwd(), 'docs')).waitFor()
  expect(await page.getByRole('link', { name: '/openapi.json' }).getAttribute('href')).toBe('/openapi.json')
  await page.reload()
  await page.getByText('no_vaults_configured').waitFor()
})

test('A site older than its sources is served while a newer one is built', async ({ startSite, folder }) => {
  const source = join(folder, 'source.md')
  writeFiles(folder)
  writeFileSync(source, '')
  const setTime = (path: string, seconds: number) => utimesSync(path, seconds, seconds)
  setTime(join(folder, 'index.html'), 1000)
  setTime(source, 1001)
  const { promise, resolve } = Promise.withResolvers<void>()
  const build = vi.fn(async () => writeFileSync(join(folder, 'index.html'), 'second'))
  build.mockImplementationOnce(async () => {
    const begun = Date.now()
    await promise
    writeFileSync(join(folder, 'index.html'), 'first')
    setTime(source, (begun + 1) / 1000)
  })
  const site = await startSite({ folder, sources: [source], build })
  const open = async () => (await fetch(`${site}/docs/`)).text()
  expect(await open()).toContain('<title>Site</title>')
  expect(await open()).toContain('<title>Site</title>')
  expect(build).toHaveBeenCalledTimes(1)
  resolve()
  // A source file changed during the first build, so a second build follows.
  await expect.poll(open).toBe('second')
})

for (const [colorScheme, background] of [
  ['light', 'rgb(255, 255, 255)'],
  ['dark', 'rgb(27, 27, 31)'],
] as const) {
  test.runIf(existsSync(join(BUILT, 'index.html')))(
    `The built site is ${colorScheme} like the system, searches pages, tries an operation with the key, and contacts no other host`,
    async ({ startSite, page }) => {
      const site = await startSite({ folder: BUILT })
      const [origins, complaints]: [Set<string>, string[]] = [new Set(), []]
      page.on('request', (request) => origins.add(new URL(request.url()).origin))
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      await page.emulateMedia({ colorScheme })
      await page.goto(`${site}/docs/api/list-vaults.html`, { waitUntil: 'networkidle' })
      const bytes = await page.evaluate<number>(LOADED)
      expect(bytes).toBeGreaterThan(100_000)
      expect(bytes).toBeLessThan(MAX_BYTES)
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(background)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      // The client has no vaults. So this error shows that the page sent the client's API key.
      await page.getByText('no_vaults_configured').last().waitFor()

      for (const [words, title] of [
        ['deposit', 'Prepare deposit'],
        ['webhook', 'Webhooks'],
        ['claim', 'Prepare claim'],
      ] as const) {
        await page.getByRole('button', { name: 'Search' }).first().click()
        await page.getByRole('searchbox').fill(words)
        await page.locator('.result', { hasText: title }).first().waitFor()
        await page.keyboard.press('Escape')
      }
      expect([...origins]).toEqual([site])
      // The request to the API returns 404 as expected, so that error is no problem of the page.
      expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
    },
  )
}
