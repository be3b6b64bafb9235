import { zeroAddress } from 'viem'
import * as z from 'zod'
import { decodeBase58 } from '../accounts/base58.ts'
import { CHAINS, type Chain, COIN_ADDRESS } from '../chain/registry.ts'
import { Address } from '../core/codecs.ts'

/** Mint address of wrapped SOL. In API requests it also means SOL itself. */
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'

/**
 * Addresses that API requests use for a chain's native coin, in lower case. The last EVM address is the ERC-20 contract
 * of Polygon's native coin.
 */
const NATIVE_ADDRESSES = {
  evm: ['native', zeroAddress, COIN_ADDRESS.toLowerCase(), '0x0000000000000000000000000000000000001010'],
  solana: ['native', '1'.repeat(32)],
}

/**
 * Request field: a chain of the chain registry. A request can contain its key, its id or its CoinGecko platform.
 * Responses contain its key.
 */
export const ChainParameter = z.codec(
  z.string().meta({ description: 'Chain: a key such as base-mainnet, an id or a CoinGecko platform' }),
  z.custom<Chain>((value) => CHAINS.some((chain) => chain === value)),
  {
    decode: (text, context) => {
      const names = ({ key, id, coinGeckoPlatform }: Chain) => [key, id.toString(), coinGeckoPlatform]
      const chain = CHAINS.find((candidate) => names(candidate).includes(text))
      if (chain) return chain
      context.issues.push({ code: 'custom', message: 'must be a supported chain', input: text })
      return z.NEVER
    },
    encode: ({ key }) => key,
  },
)

/**
 * Parses a token address to the form of `ListedToken.address`, which is `native` for the chain's native coin. Returns
 * undefined if the text is no address.
 */
export function parseTokenAddress({ kind }: Chain, text: string): string | undefined {
  if (NATIVE_ADDRESSES[kind].includes(text.toLowerCase())) return 'native'
  if (kind === 'evm') return Address.safeDecode(text).data
  return decodeBase58(text, 32) ? text : undefined
}

/**
 * Returns a token's address in the form that API responses use. The chain's native coin gets a conventional address,
 * such as 0xEeee…EEeE.
 */
export function toResponseAddress({ kind }: Chain, address: string): string {
  if (address !== 'native') return address
  return kind === 'evm' ? COIN_ADDRESS : WRAPPED_SOL
}
