import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { Config } from '../../lib/config.ts'
import { startBackends } from '../../sandbox/backends.ts'

const open = async (options: { readonly realMarkets?: boolean } = {}) => {
  const backends = await startBackends({ chainIds: [], ...options })
  onTestFinished(backends.stop)
  return backends
}

test('A chart is as dense as the real one: 5 minutes for a day, hourly to 90 days, then daily', async () => {
  const { providers } = await open()
  const lengths = [1, 2, 90, 91, 365].map(async (days) => {
    const chart = await fetch(`${providers.url}/coingecko/coins/dai/market_chart?vs_currency=usd&days=${days}`)
    return z.object({ prices: z.array(z.unknown()) }).parse(await chart.json()).prices.length
  })
  expect(await Promise.all(lengths)).toEqual([289, 49, 2161, 92, 366])
})

describe('The functions of the local service are configured', () => {
  const readConfig = async (options: { readonly realMarkets?: boolean }) => {
    const { environment, providers } = await open(options)
    const response = await fetch(providers.url, {
      method: 'POST',
      headers: { 'x-amz-target': 'secretsmanager.GetSecretValue' },
      body: JSON.stringify({ SecretId: environment['CONFIG_SECRET'] }),
    })
    const { SecretString } = z.object({ SecretString: z.string() }).parse(await response.json())
    const { coinGecko, defiLlama, liFi } = Config.parse(JSON.parse(SecretString))
    return { urls: [coinGecko.url, defiLlama.url, liFi.url], local: providers.url }
  }

  test('for the made-up market', async () => {
    const { urls, local } = await readConfig({})
    expect(urls).toEqual([`${local}/coingecko`, `${local}/defillama`, `${local}/lifi`])
  })

  test('for the real services if requested', async () => {
    const { urls } = await readConfig({ realMarkets: true })
    expect(urls).toEqual(['https://api.coingecko.com/api/v3', 'https://coins.llama.fi', 'https://li.quest/v1'])
  })
})
