import {
  type Balance,
  getCoinChart,
  listBalances,
  listCoins,
  listGainersAndLosers,
  listNFTs,
  orThrow,
  searchCoins,
} from '../../client/src/index.ts'
import type { LocalAccount } from '../accounts.ts'
import { type DemoContext, linkSolana, openSession } from './account.ts'

const CURRENCY = 'EUR'
const money = new Intl.NumberFormat('en', { style: 'currency', currency: CURRENCY })
const percent = new Intl.NumberFormat('en', { signDisplay: 'always', maximumFractionDigits: 2 })

/** Shows a user's balances and NFTs on all chains, and market data, in euros. */
export async function playPortfolio({ client, say }: DemoContext, account: LocalAccount): Promise<void> {
  const user = await openSession({ client, say }, account)
  await linkSolana({ client: user, say })
  const inCurrency = { currency: CURRENCY }

  const { tokens, errors = {} } = orThrow(await listBalances(user, inCurrency))
  const balances = Object.values(tokens).flat()
  const total = balances.reduce((sum, { quote }) => sum + quote, 0)
  say(`GET allBalances: ${balances.length} balances worth ${money.format(total)} in all`)
  for (const [chain, balances] of Object.entries(tokens)) {
    for (const balance of balances) say(`  ${chain.padEnd(18)} ${describe(balance)}`)
    if (errors[chain]) say(`  ${chain.padEnd(18)} ${errors[chain]}`)
  }

  const { nfts } = orThrow(await listNFTs(user))
  for (const [chain, collections] of Object.entries(nfts)) {
    for (const { contract_name, nft_data } of collections) {
      say(`GET nft: ${chain}, ${contract_name} ${nft_data.map(({ token_id }) => `#${token_id}`).join(', ')}`)
    }
  }

  const coins = orThrow(await listCoins(client, inCurrency))
  say(`GET markets: ${coins.length} supported coins`)
  const { top_gainers, top_losers } = orThrow(await listGainersAndLosers(client, inCurrency))
  const movers = [...top_gainers.slice(0, 2), ...top_losers.slice(0, 2)].map(
    ({ name, price_change_percentage_24h: change }) => `${name} ${percent.format(change)} %`,
  )
  say(`GET top_gainers_losers: ${movers.join(', ')}`)

  const { prices } = orThrow(await getCoinChart(client, { ...inCurrency, id: 'ethereum', days: '30' }))
  const [first, last] = [prices[0]?.[1] ?? 0, prices.at(-1)?.[1] ?? 0]
  say(
    `GET token/id/ethereum: ${prices.length} prices over 30 days, from ${money.format(first)} to ${money.format(last)}`,
  )

  const matches = orThrow(await searchCoins(client, { ...inCurrency, search: 'usd' }))
  const listed = matches.slice(0, 3).map(({ name, current_price }) => `${name} ${money.format(current_price ?? 0)}`)
  say(`POST coins/search for "usd": ${listed.join(', ')}`)
}

function describe(balance: Balance): string {
  const { contract_ticker_symbol: symbol, quote, quote_24h_variation: change, is_spam, defi } = balance
  const amount = Number(balance.balance) / 10 ** balance.contract_decimals
  const change24h = quote > 0 ? `, ${percent.format(change)} % in 24 h` : ''
  const worth = balance.price_available ? `${money.format(quote)}${change24h}` : 'no price'
  const mark = is_spam ? ', looks like spam' : defi ? ', in a vault' : ''
  return `${amount.toLocaleString('en').padStart(16)} ${symbol.padEnd(14)} ${worth}${mark}`
}
