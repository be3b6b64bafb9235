import { CHAINS, type ChainKey } from '../chain/registry.ts'
import type { ListedToken } from './coin.ts'

type Coin = readonly [name: string, coinGeckoId: string, coinKey: string]

/** What a symbol means below; LI.FI's words for the coins are from npm's @lifi/types. */
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

/** LI.FI has a word of its own for some of the chains' own coins. */
const NATIVE_COIN_KEYS: Readonly<Record<string, string>> = { xDAI: 'DAI' }

/**
 * Decimals are each chain's own. Each address stands in at least two of: npm's @across-protocol/constants, Aave's address
 * book (bgd-labs/aave-address-book), Uniswap's default token list, Jupiter's token list, and wallets' own lists.
 */
const CONTRACTS: Readonly<Record<ChainKey, readonly Contract[]>> = {
  'eth-mainnet': [
    ['USDC', 6, '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'],
    ['USDT', 6, '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
    ['DAI', 18, '0x6B175474E89094C44Da98b954EedeAC495271d0F'],
    ['WETH', 18, '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'],
    ['WBTC', 8, '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599'],
    ['wstETH', 18, '0x7f39C581F595B53c5cb19bD0b3f8dA6c935E2Ca0'],
  ],
  'optimism-mainnet': [
    ['USDC', 6, '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'],
    ['USDT', 6, '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58'],
    ['DAI', 18, '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1'],
    ['WETH', 18, '0x4200000000000000000000000000000000000006'],
    ['WBTC', 8, '0x68f180fcCe6836688e9084f035309E29Bf0A2095'],
    ['wstETH', 18, '0x1F32b1c2345538c0c6f582fCB022739c4A194Ebb'],
    ['OP', 18, '0x4200000000000000000000000000000000000042'],
  ],
  'bsc-mainnet': [
    ['USDC', 18, '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d'],
    ['USDT', 18, '0x55d398326f99059fF775485246999027B3197955'],
    ['DAI', 18, '0x1AF3F329e8BE154074D8769D1FFa4eE058B1DBc3'],
    ['ETH', 18, '0x2170Ed0880ac9A755fd29B2688956BD959F933F8'],
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
    ['USDC', 6, '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'],
    ['USDC.e', 6, '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174'],
    ['USDT', 6, '0xc2132D05D31c914a87C6611C10748AEb04B58e8F'],
    ['DAI', 18, '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063'],
    ['WETH', 18, '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619'],
    ['WBTC', 8, '0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6'],
    ['wstETH', 18, '0x03b54A6e9a984069379fae1a4fC4dBAE93B3bCCD'],
    ['WPOL', 18, '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270'],
  ],
  'base-mainnet': [
    ['USDC', 6, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
    ['USDT', 6, '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2'],
    ['DAI', 18, '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb'],
    ['WETH', 18, '0x4200000000000000000000000000000000000006'],
    ['cbBTC', 8, '0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf'],
    ['wstETH', 18, '0xc1CBa3fCea344f92D9239c08C0568f6F2F0ee452'],
  ],
  'arbitrum-mainnet': [
    ['USDC', 6, '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'],
    ['USDC.e', 6, '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8'],
    ['USDT', 6, '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'],
    ['DAI', 18, '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1'],
    ['WETH', 18, '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'],
    ['WBTC', 8, '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f'],
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

/** The tokens that are supported before LI.FI's list was read for the first time: each chain's own coin and some contracts. */
export const WELL_KNOWN_TOKENS: readonly ListedToken[] = CHAINS.flatMap(({ key: chain, nativeCoin }): ListedToken[] => {
  const { symbol, name, decimals, coinGeckoId } = nativeCoin
  const coinKey = NATIVE_COIN_KEYS[symbol] ?? symbol
  return [
    { chain, address: 'native', symbol, name, decimals, coinKey, logoUrl: '', coinGeckoId },
    ...CONTRACTS[chain].map(([symbol, decimals, address]) => {
      const [name, coinGeckoId, coinKey] = COINS[symbol]
      return { chain, address, symbol, name, decimals, coinKey, logoUrl: '', coinGeckoId }
    }),
  ]
})
