import type { LocalAccount } from '../accounts.ts'
import { linkSolana, openSession, type Stage } from './account.ts'

/** What the demo reads of the service's answers. */
type Balance = {
  readonly contract_ticker_symbol: string
  readonly contract_decimals: number
  readonly balance: string
  readonly quote: number
  readonly quote_24h_variation: number
  readonly price_available: boolean
  readonly is_spam: boolean
  readonly defi: boolean
}
type Balances = { readonly tokens: Record<string, Balance[]>; readonly errors?: Record<string, string> }
type Collection = { readonly contract_name: string; readonly nft_data: readonly { readonly token_id: string }[] }
type Nfts = { readonly nfts: Record<string, Collection[]> }
type Coin = { readonly contract_ticker_symbol: string; readonly chainId: number; readonly current_price: number | null }
type Mover = { readonly name: string; readonly price_change_percentage_24h: number }
type Movers = { readonly top_gainers: readonly Mover[]; readonly top_losers: readonly Mover[] }
type Chart = { readonly prices: readonly (readonly [number, number])[] }
type Found = { readonly id: string; readonly name: string; readonly current_price: number | null }

const CURRENCY = 'EUR'
const money = new Intl.NumberFormat('en', { style: 'currency', currency: CURRENCY })
const percent = new Intl.NumberFormat('en', { signDisplay: 'always', maximumFractionDigits: 2 })

/** Shows a user's balances and NFTs on all chains, and the market around them, in euros. */
export async function playPortfolio({ call, say }: Stage, account: LocalAccount): Promise<void> {
  const headers = await openSession({ call, say }, account)
  await linkSolana({ call, say }, headers)
  const get = <T>(path: string) => call<T>('GET', `/portfolio-indexor/${path}`, undefined, headers)

  const { tokens, errors = {} } = await get<Balances>(`allBalances?currency=${CURRENCY}`)
  const balances = Object.values(tokens).flat()
  const total = balances.reduce((sum, { quote }) => sum + quote, 0)
  say(`GET allBalances: ${balances.length} balances worth ${money.format(total)} in all`)
  for (const [chain, held] of Object.entries(tokens)) {
    for (const balance of held) say(`  ${chain.padEnd(18)} ${describe(balance)}`)
    if (errors[chain]) say(`  ${chain.padEnd(18)} ${errors[chain]}`)
  }

  const { nfts } = await get<Nfts>('nft')
  for (const [chain, collections] of Object.entries(nfts)) {
    for (const { contract_name, nft_data } of collections) {
      say(`GET nft: ${chain}, ${contract_name} ${nft_data.map(({ token_id }) => `#${token_id}`).join(', ')}`)
    }
  }

  const coins = await get<Coin[]>(`markets?currency=${CURRENCY}`)
  say(`GET markets: ${coins.length} supported coins`)
  const { top_gainers, top_losers } = await get<Movers>(`markets/top_gainers_losers?currency=${CURRENCY}`)
  const name = ({ name, price_change_percentage_24h: change }: Mover) => `${name} ${percent.format(change)} %`
  say(`GET top_gainers_losers: ${[...top_gainers.slice(0, 2), ...top_losers.slice(0, 2)].map(name).join(', ')}`)

  const { prices } = await get<Chart>(`token/id/ethereum?currency=${CURRENCY}&days=30`)
  const [first, last] = [prices[0]?.[1] ?? 0, prices.at(-1)?.[1] ?? 0]
  say(
    `GET token/id/ethereum: ${prices.length} prices over 30 days, from ${money.format(first)} to ${money.format(last)}`,
  )

  const path = `/portfolio-indexor/markets/coins/search?currency=${CURRENCY}`
  const found = await call<Found[]>('POST', path, { search: 'usd' }, headers)
  const listed = found.slice(0, 3).map(({ name, current_price }) => `${name} ${money.format(current_price ?? 0)}`)
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
