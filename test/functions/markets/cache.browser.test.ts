import { expect } from 'vitest'
import { test } from '../../support/browser.ts'

const PATH = '/portfolio-indexor/markets/coins/bitcoin'

type FetchedResponse = {
  readonly requestId: string | null
  readonly age: string | null
  readonly cacheControl: string | null
  readonly vary: string | null
}

test('A browser caches a market response for a minute whatever its age, and no stale one', async ({
  browser,
  clock,
  coldService: service,
}) => {
  const page = await browser.newPage()
  // The page must come from the API itself. Playwright switches off the browser's cache for a page that a test
  // simulates.
  await page.goto(`${service.baseUrl}/health`)
  const fetchInPage = (path: string): Promise<FetchedResponse> =>
    page.evaluate(
      async ([path, key]) => {
        const { headers } = await fetch(path, { headers: { 'x-join-key': key } })
        return {
          requestId: headers.get('x-request-id'),
          age: headers.get('age'),
          cacheControl: headers.get('cache-control'),
          vary: headers.get('vary'),
        }
      },
      [path, service.apiKey] as const,
    )

  await service.call('GET', PATH)
  clock.pass(50)
  const first = await fetchInPage(PATH)
  expect(Number(first.age)).toBeGreaterThanOrEqual(50)
  expect(first).toMatchObject({
    cacheControl: `public, max-age=${Number(first.age) + 60}`,
    vary: 'origin, accept-encoding',
  })
  expect(await fetchInPage(PATH)).toEqual(first)

  const other = `${PATH}?currency=eur`
  await service.call('GET', other)
  clock.pass(61)
  service.backends.providers.coinGecko.rewrite = () => 'hang up'
  const stale = await fetchInPage(other)
  expect(stale).toMatchObject({ cacheControl: 'no-cache' })
  expect((await fetchInPage(other)).requestId).not.toBe(stale.requestId)
  service.backends.providers.coinGecko.rewrite = undefined
})
