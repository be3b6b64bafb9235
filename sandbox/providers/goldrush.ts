import { type Address, isAddress } from 'viem'
import { CHAINS } from '../../lib/chain/registry.ts'
import type { ProviderReply } from '../fake.ts'
import { createFakeService, type FakeService } from '../fake.ts'
import { type IndexedChain, readCoinBalance, readCollectibles, readUnlistedBalances } from './indexed-chain.ts'

/** API key that the fake of GoldRush accepts. */
export const GOLDRUSH_KEY = 'local'

const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/**
 * Returns a fake of GoldRush's API under the path /goldrush. It lists a wallet's coins, unlisted tokens and NFTs on these chains, and
 * nothing on other chains. Source: https://goldrush.dev/docs/api-reference
 */
export function fakeGoldRush(chains: readonly IndexedChain[]): FakeService {
  return createFakeService('/goldrush', async ({ parts, headers }) => {
    if (headers.authorization !== `Bearer ${GOLDRUSH_KEY}`) return refuse(401, 'No valid API key was provided.')
    const [chainName, , wallet = '', list] = parts
    const knownChain = CHAINS.find(({ key }) => key === chainName)
    if (!knownChain) return refuse(404, 'Chain not found (made up)')
    const chain = chains.find(({ chainId }) => chainId === knownChain.id)
    const items = chain && isAddress(wallet, { strict: false }) ? await itemsOf(chain, wallet, list) : []
    if (!items) return refuse(404, 'No such list (made up)')
    const data = { address: wallet, chain_name: chainName, updated_at: new Date().toISOString(), items }
    return { status: 200, body: { data, error: false, error_code: null, error_message: null } }
  })
}

async function itemsOf(chain: IndexedChain, wallet: Address, list: string | undefined): Promise<object[] | undefined> {
  if (list === 'balances_v2') return await tokensOf(chain, wallet)
  return list === 'balances_nft' ? await nftsOf(chain, wallet) : undefined
}

async function tokensOf(chain: IndexedChain, wallet: Address): Promise<object[]> {
  const [coin, tokens] = await Promise.all([readCoinBalance(chain, wallet), readUnlistedBalances(chain, wallet)])
  const native = { contract_decimals: 18, contract_address: NATIVE, native_token: true, balance: coin.toString() }
  return [
    native,
    ...tokens.map(({ address, name, symbol, decimals, balance }) => ({
      contract_decimals: decimals,
      contract_name: name,
      contract_ticker_symbol: symbol,
      contract_address: address.toLowerCase(),
      supports_erc: ['erc20'],
      logo_url: null,
      native_token: false,
      type: 'cryptocurrency',
      is_spam: false,
      balance: balance?.toString() ?? null,
      quote_rate: null,
      quote: 0,
    })),
  ]
}

async function nftsOf(chain: IndexedChain, wallet: Address): Promise<object[]> {
  const owned = await readCollectibles(chain, wallet)
  if (!owned) return []
  return [
    {
      contract_name: owned.name,
      contract_ticker_symbol: owned.symbol,
      contract_address: owned.address.toLowerCase(),
      supports_erc: ['erc721'],
      is_spam: false,
      last_transfered_at: null,
      balance: owned.nfts.length.toString(),
      type: 'nft',
      floor_price_quote: null,
      floor_price_native_quote: null,
      nft_data: owned.nfts.map(({ tokenId, uri, metadata, firstOwner }) => ({
        token_id: tokenId.toString(),
        token_url: uri,
        original_owner: firstOwner?.toLowerCase(),
        external_data: metadata,
      })),
    },
  ]
}

function refuse(status: number, error_message: string): ProviderReply {
  return { status, body: { data: null, error: true, error_message, error_code: status.toString() } }
}
