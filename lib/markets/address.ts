import { zeroAddress } from 'viem'
import * as z from 'zod'
import { decodeBase58 } from '../accounts/base58.ts'
import { CHAINS, type Chain, COIN_ADDRESS } from '../chain/registry.ts'
import { Address } from '../core/codecs.ts'

/** Address of wrapped SOL. Requests also use it for SOL itself. */
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'

/** Texts that requests use for a chain's own coin, in lower case. The last EVM one is an ERC-20 contract of Polygon's own coin. */
const NATIVE_ADDRESSES = {
  evm: ['native', zeroAddress, COIN_ADDRESS.toLowerCase(), '0x0000000000000000000000000000000000001010'],
  solana: ['native', '1'.repeat(32)],
}

/** Chain of the registry. Responses name it by its key; requests also by its id or CoinGecko's platform name. */
export const Network = z.codec(
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
 * Parses an address to the form of `ListedToken.address`, `native` for the chain's own coin. Returns undefined if the text is no address.
 */
export function parseTokenAddress({ kind }: Chain, text: string): string | undefined {
  if (NATIVE_ADDRESSES[kind].includes(text.toLowerCase())) return 'native'
  if (kind === 'evm') return Address.safeDecode(text).data
  return decodeBase58(text, 32) ? text : undefined
}

/** Returns the address that API responses show. It is a conventional one for the chain's own coin. */
export function shownAddress({ kind }: Chain, address: string): string {
  if (address !== 'native') return address
  return kind === 'evm' ? COIN_ADDRESS : WRAPPED_SOL
}
