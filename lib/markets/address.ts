import { zeroAddress } from 'viem'
import * as z from 'zod'
import { decodeBase58 } from '../accounts/base58.ts'
import { CHAINS, type Chain, COIN_ADDRESS } from '../chain/registry.ts'
import { Address } from '../codecs.ts'

/** Solana's own coin as a token, which is what others write for the coin itself. */
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'

/** How a chain's own coin is written where an address is asked for, in lower case; the last is Polygon's, which speaks ERC-20 too. */
const NATIVE_ADDRESSES = {
  evm: ['native', zeroAddress, COIN_ADDRESS.toLowerCase(), '0x0000000000000000000000000000000000001010'],
  solana: ['native', '1'.repeat(32)],
}

/** One of our chains: by its key, its id, or CoinGecko's name for its platform on the way in. */
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

/** The address of a token as `ListedToken` has it, the chain's own coin however it is written; undefined for what is none. */
export function parseTokenAddress({ kind }: Chain, text: string): string | undefined {
  if (NATIVE_ADDRESSES[kind].includes(text.toLowerCase())) return 'native'
  if (kind === 'evm') return Address.safeDecode(text).data
  return decodeBase58(text, 32) ? text : undefined
}

/** The address of a ListedToken as callers see it: the chain's own coin has one of the usual addresses of such coins. */
export function shownAddress({ kind }: Chain, address: string): string {
  if (address !== 'native') return address
  return kind === 'evm' ? COIN_ADDRESS : WRAPPED_SOL
}
