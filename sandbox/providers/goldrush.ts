import { type Address, createClient, http, isAddress, isAddressEqual, parseAbi } from 'viem'
import { getBalance, getContractEvents, readContract } from 'viem/actions'
import { CHAINS } from '../../lib/chain/registry.ts'
import type { LocalToken, LocalWorld } from '../chains/world.ts'
import type { LocalChain } from '../chains.ts'
import type { ProviderReply } from '../fake.ts'
import { type Fake, fake } from '../fake.ts'

/** A chain whose tokens and NFTs the local index knows. */
export type IndexedChain = LocalChain & Pick<LocalWorld, 'unlisted' | 'collectibles'>

/** The API key that the fake accepts. */
export const GOLDRUSH_KEY = 'local'

const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
const DATA_URI = 'data:application/json;base64,'
const abi = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function tokenURI(uint256 tokenId) view returns (string)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
])

/**
 * GoldRush's index of wallets for these chains, under /goldrush: the tokens that no list names and the NFTs, as they are
 * on the chains; on the service's other chains nobody has anything (https://goldrush.dev/docs/api-reference).
 */
export function fakeGoldRush(chains: readonly IndexedChain[]): Fake {
  return fake('/goldrush', async ({ parts, headers }) => {
    if (headers.authorization !== `Bearer ${GOLDRUSH_KEY}`) return refuse(401, 'No valid API key was provided.')
    const [chainName, , wallet = '', list] = parts
    const known = CHAINS.find(({ key }) => key === chainName)
    if (!known) return refuse(404, 'Chain not found (made up)')
    const chain = chains.find(({ chainId }) => chainId === known.id)
    const items = chain && isAddress(wallet, { strict: false }) ? await itemsOf(chain, wallet, list) : []
    if (!items) return refuse(404, 'No such list (made up)')
    const data = { address: wallet, chain_name: chainName, updated_at: new Date().toISOString(), items }
    return { status: 200, body: { data, error: false, error_code: null, error_message: null } }
  })
}

async function itemsOf(chain: IndexedChain, wallet: Address, list: string | undefined): Promise<object[] | undefined> {
  if (list === 'balances_v2') return await tokensOf(chain, wallet)
  if (list !== 'balances_nft') return undefined
  return chain.collectibles ? await nftsOf(chain, chain.collectibles, wallet) : []
}

async function tokensOf(chain: IndexedChain, wallet: Address): Promise<object[]> {
  const client = clientOf(chain)
  const balance = await getBalance(client, { address: wallet })
  const describeToken = async ({ address, name, symbol, decimals }: LocalToken) => ({
    contract_decimals: decimals,
    contract_name: name,
    contract_ticker_symbol: symbol,
    contract_address: address.toLowerCase(),
    supports_erc: ['erc20'],
    logo_url: null,
    native_token: false,
    type: 'cryptocurrency',
    is_spam: false,
    balance: (await readContract(client, { address, abi, functionName: 'balanceOf', args: [wallet] })).toString(),
    quote_rate: null,
    quote: 0,
  })
  const native = { contract_decimals: 18, contract_address: NATIVE, native_token: true, balance: balance.toString() }
  return [native, ...(await Promise.all((chain.unlisted ?? []).map(describeToken)))]
}

async function nftsOf(chain: IndexedChain, collection: Address, wallet: Address): Promise<object[]> {
  const client = clientOf(chain)
  const events = await getContractEvents(client, {
    address: collection,
    abi,
    eventName: 'Transfer',
    fromBlock: 0n,
    strict: true,
  })
  // The last recipient is the owner.
  const transfers = new Map(events.map(({ args }) => [args.tokenId, args]))
  const owned = [...transfers.values()].filter(({ to }) => isAddressEqual(to, wallet))
  if (owned.length === 0) return []
  const read = { address: collection, abi } as const
  const [name, symbol, uris] = await Promise.all([
    readContract(client, { ...read, functionName: 'name' }),
    readContract(client, { ...read, functionName: 'symbol' }),
    Promise.all(
      owned.map(({ tokenId }) => readContract(client, { ...read, functionName: 'tokenURI', args: [tokenId] })),
    ),
  ])
  return [
    {
      contract_name: name,
      contract_ticker_symbol: symbol,
      contract_address: collection.toLowerCase(),
      supports_erc: ['erc721'],
      is_spam: false,
      last_transfered_at: null,
      balance: owned.length.toString(),
      type: 'nft',
      floor_price_quote: null,
      floor_price_native_quote: null,
      nft_data: owned.map(({ tokenId }, index) => ({
        token_id: tokenId.toString(),
        token_url: uris[index],
        original_owner: events.find(({ args }) => args.tokenId === tokenId)?.args.to.toLowerCase(),
        external_data: JSON.parse(Buffer.from(uris[index]?.slice(DATA_URI.length) ?? '', 'base64').toString()),
      })),
    },
  ]
}

function refuse(status: number, error_message: string): ProviderReply {
  return { status, body: { data: null, error: true, error_message, error_code: status.toString() } }
}

function clientOf({ rpcUrl }: IndexedChain) {
  return createClient({ transport: http(rpcUrl, { retryCount: 0 }) })
}
