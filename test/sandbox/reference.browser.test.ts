import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { buildReference } from '../../reference/files.ts'
import { VIEWER_FILE } from '../../reference/viewer.ts'
import type { BackendsOptions } from '../../sandbox/backends.ts'
import { startGateway } from '../../sandbox/gateway.ts'
import { serveReference } from '../../sandbox/start/reference.ts'
import { test as base } from '../support/browser.ts'

/** Whether to look at the real viewer, from the npm registry, too: `VIEWER=real npx vitest run test/sandbox/reference.browser.test.ts`. */
const REAL_VIEWER = process.env['VIEWER'] === 'real'
/** An origin that the service allows. */
const WEB = 'http://localhost:3000'

/** A viewer that asks another host in each way that a page has, then the API with the key that it was given, and tells. */
const fakeViewer = (elsewhere: string) => `
  globalThis.Scalar = {
    async createApiReference(place, { url, authentication }) {
      await fetch('${elsewhere}/fetch').catch(() => {})
      for (const [tag, address] of [['img', 'src'], ['script', 'src'], ['iframe', 'src'], ['link', 'href']]) {
        const element = Object.assign(document.createElement(tag), { [address]: '${elsewhere}/' + tag, rel: 'stylesheet' })
        const settled = new Promise((resolve) => (element.onerror = element.onload = resolve))
        document.head.append(element)
        await settled
      }
      const { servers, paths } = await (await fetch(url)).json()
      const key = authentication.securitySchemes?.apiKey.value
      const options = { headers: key ? { 'x-join-key': key } : {} }
      const answer = await fetch(new URL('/defi-vaults/v1/vaults', new URL(servers[0].url, location)), options)
      const { code } = await answer.json()
      place.textContent = paths['/defi-vaults/v1/vaults'].get.summary + ': ' + code
    },
  }`

/** The key that is filled in, and where npm finds packages: its usual ones unless told. */
type Site = { readonly apiKey?: string; readonly registry?: string }

/** A registry with another package under the viewer's name and version, which is all that npm can check. */
async function startForger(folder: string): Promise<Server> {
  mkdirSync(join(folder, 'package'))
  writeFileSync(join(folder, 'package', 'package.json'), '{"name":"@scalar/api-reference","version":"1.72.1"}')
  const archive = spawnSync('tar', ['-czf', '-', '-C', folder, 'package']).stdout
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`
  const server = createServer(({ url, headers: { host } }, response) => {
    const dist = { tarball: `http://${host}/forged.tgz`, integrity }
    const versions = { '1.72.1': { name: '@scalar/api-reference', version: '1.72.1', dist } }
    response.end(url === '/forged.tgz' ? archive : JSON.stringify({ name: '@scalar/api-reference', versions }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const test = base
  // The vaults can be listed where there are chains.
  .extend('backendsOptions', { scope: 'file' }, (): BackendsOptions => (REAL_VIEWER ? {} : { chainIds: [] }))
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('folder', ({}, { onCleanup }) => {
    const folder = mkdtempSync(join(tmpdir(), 'reference-'))
    onCleanup(() => rmSync(folder, { recursive: true }))
    return folder
  })
  /** What reached a host that is neither the page's nor the API's. */
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('elsewhere', async ({}, { onCleanup }) => {
    const asked: string[] = []
    const server = createServer(({ url }, response) => {
      asked.push(url ?? '')
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onCleanup(async () => {
      server.close()
    })
    return { url: urlOf(server), asked }
  })
  /** The API with its reference, as the local service has it. */
  .extend('startSite', async ({ sharedService, folder }, { onCleanup }) => async (given: Site = {}) => {
    const { apiKey = sharedService.apiKey, registry } = given
    const npm = registry && { npm_config_registry: registry, npm_config_cache: join(folder, 'cache') }
    const beside = serveReference({ apiKey, folder, env: { ...process.env, ...npm } })
    const options = { port: 0, cors: { allowOrigins: [] }, schedule: false }
    const { url, stop } = await startGateway(options, beside)
    onCleanup(stop)
    return url.replace('127.0.0.1', 'localhost')
  })
  .extend('page', async ({ browser }, { onCleanup }): Promise<Page> => {
    const context = await browser.newContext({ permissions: ['local-network-access'], locale: 'en-US' })
    onCleanup(() => context.close())
    return context.newPage()
  })

test('The root of the local service leads to a reference that has the key, and reaches no other host', async ({
  sharedService: { createClient },
  startSite,
  folder,
  elsewhere,
  page,
}) => {
  writeFileSync(join(folder, VIEWER_FILE), fakeViewer(elsewhere.url))
  const site = await startSite({ apiKey: await createClient([]) })
  await page.goto(site)
  expect(page.url()).toBe(`${site}/docs/`)
  const { headers } = await fetch(page.url())
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  await page.getByText('List vaults: no_vaults_configured').waitFor()
  expect(elsewhere.asked).toEqual([])
})

test('The reference as static files asks the API from an allowed origin, has no key, and reaches no other host', async ({
  sharedService: { baseUrl },
  elsewhere,
  page,
}) => {
  const files: Readonly<Record<string, string>> = {
    ...(await buildReference({ apiOrigin: baseUrl })),
    [VIEWER_FILE]: fakeViewer(elsewhere.url),
  }
  await page.route(`${WEB}/**`, (route) => {
    const name = new URL(route.request().url()).pathname.slice('/reference/'.length) || 'index.html'
    const contentType = name.endsWith('.js') ? 'text/javascript' : name.endsWith('.html') ? 'text/html' : 'text/plain'
    return route.fulfill({ contentType, body: files[name] ?? '' })
  })
  await page.goto(`${WEB}/reference/`)
  await page.getByText('List vaults: missing_api_key').waitFor()
  expect(elsewhere.asked).toEqual([])
})

test('Without a registry the reference says so, and leads to the same as text', async ({
  startSite,
  page,
  onTestFinished,
}) => {
  const log = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => log.mockRestore())
  await page.goto(await startSite({ registry: 'http://127.0.0.1:9' }))
  await page.getByText('The viewer of this reference is not here.').waitFor()
  expect(log).toHaveBeenCalledWith(expect.stringContaining('ECONNREFUSED'))
  for (const [link, beginning] of [
    ['the guides', '# Quick start'],
    ['every field and every error', '# API reference'],
    ['the OpenAPI document', '{"openapi":"3.1.0"'],
  ] as const) {
    const href = await page.getByRole('link', { name: link }).getAttribute('href')
    const answer = await fetch(new URL(href ?? '', page.url()))
    expect((await answer.text()).slice(0, beginning.length)).toBe(beginning)
  }
})

test('A package that is not the pinned one is refused', async ({ startSite, folder, onTestFinished }) => {
  const forger = await startForger(folder)
  onTestFinished(async () => {
    forger.close()
  })
  const site = await startSite({ registry: urlOf(forger) })
  const log = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => log.mockRestore())
  expect((await fetch(`${site}/docs/${VIEWER_FILE}`)).status).toBe(502)
  expect(log).toHaveBeenCalledWith(expect.stringContaining('not the pinned one'))
})

test('What is none of the reference is the API’s', async ({ startSite }) => {
  const site = await startSite()
  for (const path of ['/docs/nothing', '/docsx', '/docs/toString']) {
    expect((await fetch(site + path)).status).toBe(404)
  }
  expect((await fetch(site, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${site}/health`)).status).toBe(200)
})

for (const [colorScheme, background] of [
  ['light', 'rgb(255, 255, 255)'],
  ['dark', 'rgb(15, 15, 15)'],
] as const) {
  test.runIf(REAL_VIEWER)(
    `The real viewer names operations by their titles, tries one with the key, is ${colorScheme} as the system is, and asks nobody else`,
    { timeout: 120_000 },
    async ({ startSite, page }) => {
      const site = await startSite()
      const [asked, complaints]: [Set<string>, string[]] = [new Set(), []]
      page.on('request', (request) => asked.add(new URL(request.url()).origin))
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      await page.emulateMedia({ colorScheme })
      await page.goto(site)
      await page.getByRole('link', { name: 'Withdrawals', exact: true }).first().click()
      await page.getByRole('heading', { name: 'After a settlement' }).waitFor()
      await page.getByRole('link', { name: 'List vaults' }).first().click()
      await page.getByRole('button', { name: 'Test Request' }).first().click()
      await page.getByRole('button', { name: 'Send Request' }).click()
      await page.getByText('200 OK').waitFor()
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(background)
      expect([...asked]).toEqual([site])
      expect(complaints).toEqual([])
    },
  )
}
