import { BRIDGED_TOKENS } from '../chain/bridged-tokens.ts'
import { CHAINS, type ChainKey } from '../chain/registry.ts'
import type { ListedToken } from './coin.ts'

type Coin = readonly [name: string, coinGeckoId: string, coinKey: string]

/** Name, CoinGecko id and LI.FI key of coins, by symbol. The LI.FI keys come from the npm package @lifi/types. */
const COINS = {
  USDC: ['USD Coin', 'usd-coin', 'USDC'],
  'USDC.e': ['Bridged USDC', 'usd-coin', 'USDCe'],
  USDT: ['Tether USD', 'tether', 'USDT'],
  DAI: ['Dai Stablecoin', 'dai', 'DAI'],
  WETH: ['Wrapped Ether', 'weth', 'WETH'],
  ETH: ['Ether', 'ethereum', 'ETH'],
  WBTC: ['Wrapped Bitcoin', 'wrapped-bitcoin', 'WBTC'],
  BTCB: ['Binance-Peg Bitcoin', 'binance-bitcoin', 'BTCB'],
  cbBTC: ['Coinbase Wrapped BTC', 'coinbase-wrapped-btc', 'cbBTC'],
  wstETH: ['Wrapped Liquid Staked Ether', 'wrapped-steth', 'wstETH'],
  WBNB: ['Wrapped BNB', 'wbnb', 'WBNB'],
  WPOL: ['Wrapped POL', 'wrapped-pol', 'WPOL'],
  WXDAI: ['Wrapped xDAI', 'wrapped-xdai', 'WXDAI'],
  GNO: ['Gnosis', 'gnosis', 'GNO'],
  OP: ['Optimism', 'optimism', 'OP'],
  ARB: ['Arbitrum', 'arbitrum', 'ARB'],
  wSOL: ['Wrapped SOL', 'wrapped-solana', 'wSOL'],
  mSOL: ['Marinade Staked SOL', 'msol', 'mSOL'],
  JitoSOL: ['Jito Staked SOL', 'jito-staked-sol', 'JitoSOL'],
  JUP: ['Jupiter', 'jupiter-exchange-solana', 'JUP'],
  BONK: ['Bonk', 'bonk', 'BONK'],
} as const satisfies Record<string, Coin>
type Contract = readonly [symbol: keyof typeof COINS, decimals: number, address: string]

/** LI.FI keys of native coins that differ from the coin's symbol. */
const NATIVE_COIN_KEYS: Readonly<Record<string, string>> = { xDAI: 'DAI' }

/**
 * Token contracts that are not among the bridge's tokens, by chain, with symbol and decimals. Each address appears in
 * at least two of these lists: npm's @across-protocol/constants, Aave's address book (bgd-labs/aave-address-book),
 * Uniswap's default token list, Jupiter's token list, wallets' own lists.
 */
const OTHER_CONTRACTS: Readonly<Record<ChainKey, readonly Contract[]>> = {
  'eth-mainnet': [['wstETH', 18, '0x7f39C581F595B53c5cb19bD0b3f8dA6c935E2Ca0']],
  'optimism-mainnet': [
    ['wstETH', 18, '0x1F32b1c2345538c0c6f582fCB022739c4A194Ebb'],
    ['OP', 18, '0x4200000000000000000000000000000000000042'],
  ],
  'bsc-mainnet': [
    ['DAI', 18, '0x1AF3F329e8BE154074D8769D1FFa4eE058B1DBc3'],
    ['BTCB', 18, '0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c'],
    ['WBNB', 18, '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c'],
  ],
  'gnosis-mainnet': [
    ['USDC', 6, '0xDDAfbb505ad214D7b80b1f830fcCc89B60fb7A83'],
    ['USDC.e', 6, '0x2a22f9c3b484c3629090FeED35F17Ff8F88f76F0'],
    ['USDT', 6, '0x4ECaBa5870353805a9F068101A40E0f32ed605C6'],
    ['WXDAI', 18, '0xe91D153E0b41518A2Ce8Dd3D7944Fa863463a97d'],
    ['WETH', 18, '0x6A023CCd1ff6F2045C3309768eAd9E68F978f6e1'],
    ['wstETH', 18, '0x6C76971f98945AE98dD7d4DFcA8711ebea946eA6'],
    ['GNO', 18, '0x9C58BAcC331c9aa871AFD802DB6379a98e80CEdb'],
  ],
  'matic-mainnet': [
    ['USDC.e', 6, '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174'],
    ['wstETH', 18, '0x03b54A6e9a984069379fae1a4fC4dBAE93B3bCCD'],
    ['WPOL', 18, '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270'],
  ],
  'base-mainnet': [
    ['cbBTC', 8, '0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf'],
    ['wstETH', 18, '0xc1CBa3fCea344f92D9239c08C0568f6F2F0ee452'],
  ],
  'arbitrum-mainnet': [
    ['USDC.e', 6, '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8'],
    ['wstETH', 18, '0x5979D7b546E38E414F7E9822514be443A4800529'],
    ['ARB', 18, '0x912CE59144191C1204E64559FE8253a0e49E6548'],
  ],
  'solana-mainnet': [
    ['USDC', 6, 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
    ['USDT', 6, 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'],
    ['wSOL', 9, 'So11111111111111111111111111111111111111112'],
    ['mSOL', 9, 'mSoLzYCxHdYgdzU16g5QSh3i5K3z3KZK7ytfqcJm7So'],
    ['JitoSOL', 9, 'J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn'],
    ['JUP', 6, 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN'],
    ['BONK', 5, 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'],
  ],
}

/** Tokens that the service supports until the job refresh-tokens has cached LI.FI's list for the first time. */
export const WELL_KNOWN_TOKENS: readonly ListedToken[] = CHAINS.flatMap(
  ({ id, key: chain, nativeCoin }): ListedToken[] => {
    const { symbol, name, decimals, coinGeckoId } = nativeCoin
    const coinKey = NATIVE_COIN_KEYS[symbol] ?? symbol
    return [
      { chain, address: 'native', symbol, name, decimals, coinKey, logoUrl: '', coinGeckoId },
      ...[...(BRIDGED_TOKENS[id] ?? []), ...OTHER_CONTRACTS[chain]].map(([symbol, decimals, address]) => {
        const [name, coinGeckoId, coinKey] = COINS[symbol]
        return { chain, address, symbol, name, decimals, coinKey, logoUrl: '', coinGeckoId }
      }),
    ]
  },
)
