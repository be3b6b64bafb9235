import type { Address } from 'viem'

type TokenSymbol = 'USDC' | 'USDT' | 'DAI' | 'WETH' | 'ETH' | 'WBTC'
/** A token on one chain. `asset` is the token's symbol on other chains, if that differs. */
type Token = readonly [symbol: TokenSymbol, decimals: number, address: Address, asset?: TokenSymbol]

/**
 * Tokens that the bridge Across supports, by chain id. Decimals differ between chains: USDC and USDT have 18 on BNB
 * Smart Chain. Addresses are those of npm's @across-protocol/constants 3.1.127.
 */
export const BRIDGED_TOKENS: Readonly<Record<number, readonly Token[]>> = {
  1: [
    ['USDC', 6, '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'],
    ['USDT', 6, '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
    ['DAI', 18, '0x6B175474E89094C44Da98b954EedeAC495271d0F'],
    ['WETH', 18, '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'],
    ['WBTC', 8, '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599'],
  ],
  10: [
    ['USDC', 6, '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'],
    ['USDT', 6, '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58'],
    ['DAI', 18, '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1'],
    ['WETH', 18, '0x4200000000000000000000000000000000000006'],
    ['WBTC', 8, '0x68f180fcCe6836688e9084f035309E29Bf0A2095'],
  ],
  56: [
    ['USDC', 18, '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d'],
    ['USDT', 18, '0x55d398326f99059fF775485246999027B3197955'],
    ['ETH', 18, '0x2170Ed0880ac9A755fd29B2688956BD959F933F8', 'WETH'],
  ],
  137: [
    ['USDC', 6, '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'],
    ['USDT', 6, '0xc2132D05D31c914a87C6611C10748AEb04B58e8F'],
    ['DAI', 18, '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063'],
    ['WETH', 18, '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619'],
    ['WBTC', 8, '0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6'],
  ],
  8453: [
    ['USDC', 6, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
    ['USDT', 6, '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2'],
    ['DAI', 18, '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb'],
    ['WETH', 18, '0x4200000000000000000000000000000000000006'],
  ],
  42161: [
    ['USDC', 6, '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'],
    ['USDT', 6, '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'],
    ['DAI', 18, '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1'],
    ['WETH', 18, '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'],
    ['WBTC', 8, '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f'],
  ],
}
