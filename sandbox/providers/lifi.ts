import { zeroAddress } from 'viem'
import { CHAINS, type Chain } from '../../lib/chain/registry.ts'
import { createFakeService, type FakeService } from '../fake.ts'
import type { MadeUpCoin, MadeUpMarket, MarketToken } from './market.ts'

const SOLANA_NATIVE = '11111111111111111111111111111111'

/**
 * Returns a fake of LI.FI's token list under the path /lifi (https://docs.li.fi). It lists these tokens and all native coins, with prices
 * of the invented market. `now` is in epoch milliseconds.
 */
export function fakeLiFi(market: MadeUpMarket, tokens: readonly MarketToken[], now: () => number): FakeService {
  const figuresOf = (coin: MadeUpCoin | undefined) => {
    const price = coin && market.priceAt(coin, 'usd', now())
    const marketCapUSD = coin && price !== undefined ? price * coin.supply : null
    return { priceUSD: (price ?? 0).toString(), marketCapUSD, volumeUSD24H: null, fdvUSD: marketCapUSD }
  }
  const logoOf = (symbol: string) => `https://images.example/tokens/${symbol.toLowerCase()}.png`

  /** LI.FI lists Gnosis' native coin under its backing asset, DAI. */
  const coinKeyOf = (symbol: string) => (symbol === 'xDAI' ? 'DAI' : symbol)

  const nativeOf = ({ kind, id: chainId, nativeCoin }: Chain) => {
    const { symbol, name, decimals, coinGeckoId } = nativeCoin
    return {
      chainId,
      address: kind === 'evm' ? zeroAddress : SOLANA_NATIVE,
      ...{
        symbol,
        name,
        decimals,
        coinKey: coinKeyOf(symbol),
        logoURI: logoOf(symbol),
        verificationStatus: 'verified',
      },
      ...figuresOf(market.coins.find(({ id }) => id === coinGeckoId)),
    }
  }
  const describe = (chain: Chain, { address, symbol, name, decimals }: MarketToken) => ({
    chainId: chain.id,
    address,
    ...{ symbol, name, decimals, coinKey: symbol, logoURI: logoOf(symbol), verificationStatus: 'verified' },
    ...figuresOf(market.coinAt(chain.coinGeckoPlatform, address)),
  })

  return createFakeService('/lifi', ({ parts, query }) => {
    if (parts.join('/') !== 'tokens') return { status: 404, body: { message: 'Not Found', code: 1003 } }
    const [wanted, types] = [query.get('chains')?.split(','), query.get('chainTypes')?.split(',') ?? ['EVM']]
    const chains = CHAINS.filter(
      ({ id, kind }) => types.includes(kind === 'evm' ? 'EVM' : 'SVM') && (!wanted || wanted.includes(id.toString())),
    )
    const lists = chains.map((chain) => {
      const ofChain = tokens.filter(({ chainId }) => chainId === chain.id)
      return [chain.id, [nativeOf(chain), ...ofChain.map((token) => describe(chain, token))]]
    })
    return { status: 200, body: { tokens: Object.fromEntries(lists) } }
  })
}
