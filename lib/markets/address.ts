import { zeroAddress } from 'viem'
import * as z from 'zod'
import { decodeBase58 } from '../accounts/base58.ts'
import { CHAINS, type Chain, COIN_ADDRESS } from '../chain/registry.ts'
import { Address } from '../core/codecs.ts'

/** Address of wrapped SOL, which callers also use for the coin itself. */
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'

/** Spellings of a chain's own coin, in lower case. The last EVM one is Polygon's coin, which is also an ERC-20. */
const NATIVE_ADDRESSES = {
  evm: ['native', zeroAddress, COIN_ADDRESS.toLowerCase(), '0x0000000000000000000000000000000000001010'],
  solana: ['native', '1'.repeat(32)],
}

/** One of our chains: by its key, and in requests also by its id or CoinGecko's platform. */
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

/** Parses an address as in `ListedToken`, with any spelling of the own coin; undefined if it is none. */
export function parseTokenAddress({ kind }: Chain, text: string): string | undefined {
  if (NATIVE_ADDRESSES[kind].includes(text.toLowerCase())) return 'native'
  if (kind === 'evm') return Address.safeDecode(text).data
  return decodeBase58(text, 32) ? text : undefined
}

/** Returns the address that the API shows; the chain's own coin has a conventional one. */
export function shownAddress({ kind }: Chain, address: string): string {
  if (address !== 'native') return address
  return kind === 'evm' ? COIN_ADDRESS : WRAPPED_SOL
}
