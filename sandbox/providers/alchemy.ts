import { type Address, getAddress, isAddress } from 'viem'
import * as z from 'zod'
import { CHAINS } from '../../lib/chain/registry.ts'
import type { LocalToken } from '../chains/world.ts'
import { createFakeService, type FakeService, type ProviderReply } from '../fake.ts'
import { type IndexedChain, readCollectibles, readTokenBalances } from './indexed-chain.ts'

/** API key that the fake of Alchemy accepts. */
export const ALCHEMY_KEY = 'local'

/** Limit of Alchemy's pay-as-you-go plan in compute units per second, averaged over ten seconds. */
const UNITS_PER_SECOND = 10_000
const WINDOW_MS = 10_000
const UNITS = { alchemy_getTokenBalances: 20, alchemy_getTokenMetadata: 10, getNFTsForOwner: 480 }
const PAGE_SIZE = 100
const WITHOUT_NFTS = ['bnb-mainnet', 'gnosis-mainnet']

const Call = z.object({ id: z.int(), method: z.string(), params: z.array(z.unknown()) })
type Call = z.output<typeof Call>
const BalancesParams = z.tuple([z.string(), z.literal('erc20')]).rest(z.object({ pageKey: z.string().optional() }))

/** Fake of Alchemy. `spent.units` is the sum of the compute units of all served requests. */
export type FakeAlchemy = FakeService & { readonly spent: { units: number } }

/**
 * Returns a fake of Alchemy's wallet index under the path /alchemy/<network>. It lists the tokens (even unlisted ones) and NFTs on these
 * chains, and nothing on other chains. Like the real API, it limits compute units and rejects unknown keys, networks and page keys. Source:
 * https://www.alchemy.com/docs/reference/error-reference
 */
export function fakeAlchemy(
  chains: readonly IndexedChain[],
  { unitsPerSecond = UNITS_PER_SECOND, pageSize = PAGE_SIZE, now = Date.now } = {},
): FakeAlchemy {
  const spent = { units: 0 }
  const window: { at: number; units: number }[] = []

  /** Counts compute units. Returns false, and counts nothing, if the last ten seconds would exceed the limit. */
  function take(units: number): boolean {
    while (window[0] && window[0].at <= now() - WINDOW_MS) window.shift()
    const used = window.reduce((sum, one) => sum + one.units, 0)
    if (used + units > (unitsPerSecond * WINDOW_MS) / 1000) return false
    window.push({ at: now(), units })
    spent.units += units
    return true
  }

  async function answerCall(chain: IndexedChain | undefined, { id, method, params }: Call): Promise<object> {
    const result =
      method === 'alchemy_getTokenBalances' ? await balancesOf(chain, params, pageSize) : metadataOf(chain, params)
    return {
      jsonrpc: '2.0',
      id,
      ...(result ? { result } : { error: { code: -32602, message: 'invalid 1st argument' } }),
    }
  }

  const service = createFakeService('/alchemy', async ({ parts: [network = '', ...parts], query, body }) => {
    const isNft = parts[0] === 'nft'
    const [version, key, method] = isNft ? parts.slice(1) : parts
    if (version !== (isNft ? 'v3' : 'v2')) return refuse(404, -32600, 'Not Found')
    if (key !== ALCHEMY_KEY) return refuse(401, -32600, 'Must be authenticated!')
    const knownChain = CHAINS.find((chain) => chain.kind === 'evm' && chain.alchemyNetwork === network)
    if (!knownChain) return refuse(403, -32600, `${network} is not enabled for this app.`)
    const chain = chains.find(({ chainId }) => chainId === knownChain.id)

    if (isNft) {
      const owner = query.get('owner') ?? ''
      if (method !== 'getNFTsForOwner') return refuse(404, -32600, 'Not Found')
      if (WITHOUT_NFTS.includes(network)) return refuse(400, -32600, `Unsupported network: ${network} (made up)`)
      if (!isAddress(owner, { strict: false })) return refuse(400, -32602, 'owner is not a valid address')
      if (!take(UNITS.getNFTsForOwner)) return tooMany()
      return pageOfNfts(chain, owner, query, pageSize)
    }

    const parsed = z.union([Call, z.array(Call)]).safeParse(JSON.parse(body || 'null'))
    if (!parsed.success) return refuse(400, -32700, 'Parse error')
    const calls = [parsed.data].flat()
    const units: Readonly<Record<string, number>> = UNITS
    const unknown = calls.find((call) => units[call.method] === undefined || call.method === 'getNFTsForOwner')
    if (unknown) return refuse(400, -32600, `Unsupported method: ${unknown.method} on ${network}`)
    if (!take(calls.reduce((sum, call) => sum + (units[call.method] ?? 0), 0))) return tooMany()
    const answers = await Promise.all(calls.map((call) => answerCall(chain, call)))
    return { status: 200, body: Array.isArray(parsed.data) ? answers : answers[0] }
  })
  return Object.assign(service, { spent })
}

async function balancesOf(chain: IndexedChain | undefined, params: readonly unknown[], pageSize: number) {
  const parsed = BalancesParams.safeParse(params)
  if (!parsed.success) return undefined
  const [address, , options] = parsed.data
  if (!isAddress(address, { strict: false })) return undefined
  const page = pageOf(
    chain ? await readTokenBalances(chain, tokensOf(chain), getAddress(address)) : [],
    options?.pageKey,
    pageSize,
  )
  return (
    page && {
      address: address.toLowerCase(),
      tokenBalances: page.items.map(({ address: contract, balance }) => ({
        contractAddress: contract.toLowerCase(),
        // Exactly one of `tokenBalance` and `error` is null.
        tokenBalance: balance === null ? null : `0x${balance.toString(16).padStart(64, '0')}`,
        error: balance === null ? 'execution reverted' : null,
      })),
      ...(page.next && { pageKey: page.next }),
    }
  )
}

/** Lists all tokens of a chain. Every wallet's response has all of them, most with a zero balance. */
function tokensOf({ tokens, unlisted = [] }: IndexedChain): readonly LocalToken[] {
  return [...tokens, ...unlisted]
}

function metadataOf(chain: IndexedChain | undefined, [contract]: readonly unknown[]): object | undefined {
  if (typeof contract !== 'string' || !isAddress(contract, { strict: false })) return undefined
  const token = chain && tokensOf(chain).find(({ address }) => address.toLowerCase() === contract.toLowerCase())
  const { name = null, symbol = null, decimals = null } = token ?? {}
  return { name, symbol, decimals, logo: null }
}

async function pageOfNfts(
  chain: IndexedChain | undefined,
  owner: Address,
  query: URLSearchParams,
  pageSize: number,
): Promise<ProviderReply> {
  const owned = chain && (await readCollectibles(chain, owner))
  const page = pageOf(owned?.nfts ?? [], query.get('pageKey') ?? undefined, pageSize)
  if (!page) return refuse(400, -32602, 'pageKey is invalid')
  const contract = owned && {
    ...{ address: owned.address.toLowerCase(), name: owned.name, symbol: owned.symbol, tokenType: 'ERC721' },
    ...{ isSpam: false, spamClassifications: [], openSeaMetadata: { floorPrice: null, collectionName: null } },
  }
  const ownedNfts = page.items.map(({ tokenId, uri, metadata }) => ({
    ...{ contract, tokenId: tokenId.toString(), tokenType: 'ERC721', balance: '1', tokenUri: uri },
    ...{ name: null, description: null, image: {}, animation: {}, acquiredAt: { blockTimestamp: null } },
    // Values from the NFT's metadata replace the null values above.
    ...pickWords(metadata),
    raw: { tokenUri: uri, metadata, error: null },
  }))
  return { status: 200, body: { ownedNfts, totalCount: owned?.nfts.length ?? 0, pageKey: page.next ?? null } }
}

function pickWords(metadata: object): object {
  const { name, description, image } = z.record(z.string(), z.unknown()).parse(metadata)
  return { name, description, image: { originalUrl: image } }
}

function pageOf<T>(items: readonly T[], pageKey: string | undefined, size: number) {
  const start = pageKey === undefined ? 0 : Number(/^page-(\d+)$/.exec(pageKey)?.[1] ?? Number.NaN)
  if (Number.isNaN(start) || (start > 0 && start >= items.length)) return undefined
  const end = start + size
  return { items: items.slice(start, end), next: end < items.length ? `page-${end}` : undefined }
}

function refuse(status: number, code: number, message: string): ProviderReply {
  return { status, body: { jsonrpc: '2.0', id: null, error: { code, message } } }
}

function tooMany(): ProviderReply {
  return refuse(429, 429, 'Your app has exceeded its compute units per second capacity.')
}
