import { type Address, isAddressEqual, parseAbi } from 'viem'
import { getBalance, getContractEvents, readContract } from 'viem/actions'
import type { LocalToken, LocalWorld } from '../chains/world.ts'
import type { LocalChain } from '../chains.ts'
import { createBatchingClient } from '../rpc.ts'

/** Local chain whose tokens and NFTs the fakes of wallet indexes (Alchemy, GoldRush) list. */
export type IndexedChain = LocalChain & Pick<LocalWorld, 'tokens' | 'unlisted' | 'collectibles'>

/** Token with a wallet's balance; null if `balanceOf` reverts. */
type TokenBalance = LocalToken & { readonly balance: bigint | null }

const DATA_URI = 'data:application/json;base64,'
const abi = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function tokenURI(uint256 tokenId) view returns (string)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
])

/** Reads a wallet's balance of the chain's native coin, in wei. */
export function readCoinBalance(chain: IndexedChain, wallet: Address): Promise<bigint> {
  return getBalance(createBatchingClient(chain), { address: wallet })
}

/** Reads a wallet's balances of the chain's unlisted tokens (tokens that no token list contains), in their smallest units. */
export function readUnlistedBalances(chain: IndexedChain, wallet: Address): Promise<TokenBalance[]> {
  return readTokenBalances(chain, chain.unlisted ?? [], wallet)
}

/** Reads a wallet's balances of these tokens, in their smallest units. */
export function readTokenBalances(
  chain: IndexedChain,
  tokens: readonly LocalToken[],
  wallet: Address,
): Promise<TokenBalance[]> {
  const client = createBatchingClient(chain)
  return Promise.all(
    tokens.map(async (token) => ({
      ...token,
      balance: await readContract(client, {
        address: token.address,
        abi,
        functionName: 'balanceOf',
        args: [wallet],
      }).catch(() => null),
    })),
  )
}

/** Reads a wallet's NFTs with their metadata; undefined if the wallet has no NFTs. */
export async function readCollectibles(chain: IndexedChain, wallet: Address) {
  const { collectibles: address } = chain
  if (!address) return undefined
  const client = createBatchingClient(chain)
  const events = await getContractEvents(client, { address, abi, eventName: 'Transfer', fromBlock: 0n, strict: true })
  // Later transfers overwrite earlier ones. The map has each NFT's last transfer, whose recipient owns the NFT.
  const transfers = new Map(events.map(({ args }) => [args.tokenId, args]))
  const owned = [...transfers.values()].filter(({ to }) => isAddressEqual(to, wallet))
  if (owned.length === 0) return undefined
  const read = { address, abi } as const
  const [name, symbol, nfts] = await Promise.all([
    readContract(client, { ...read, functionName: 'name' }),
    readContract(client, { ...read, functionName: 'symbol' }),
    Promise.all(
      owned.map(async ({ tokenId }) => {
        const uri = await readContract(client, { ...read, functionName: 'tokenURI', args: [tokenId] })
        const metadata: object = JSON.parse(Buffer.from(uri.slice(DATA_URI.length), 'base64').toString())
        const first = events.find(({ args }) => args.tokenId === tokenId)?.args.to
        return { tokenId, uri, metadata, firstOwner: first }
      }),
    ),
  ])
  return { address, name, symbol, nfts }
}
