import { createHash } from 'node:crypto'
import * as z from 'zod'
import { SOLANA_WALLET } from '../accounts.ts'
import { createFakeService, type FakeService } from '../fake.ts'
import { type JsonRpcCall, jsonRpcReply } from './json-rpc.ts'
import type { MarketToken } from './market.ts'

const MADE_UP = 'made up by the local fake'

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
const USDC = { mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', decimals: 6 }
const USDT = { mint: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', decimals: 6 }
/** Token of the Token-2022 program, which no token list of the service contains. */
const PYUSD = { mint: '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo', decimals: 6 }

type Account = { readonly mint: string; readonly decimals: number; readonly amount: bigint }
type Holdings = { readonly lamports: number; readonly accounts: Readonly<Record<string, readonly Account[]>> }

const LOCAL_HOLDINGS: Holdings = {
  lamports: 12_500_000_000,
  accounts: {
    // The wallet has two token accounts for USDC, as real wallets sometimes have.
    [TOKEN]: [
      { ...USDC, amount: 1_200_000_000n },
      { ...USDC, amount: 50_000_000n },
      { ...USDT, amount: 340_250_000n },
    ],
    [TOKEN_2022]: [{ ...PYUSD, amount: 75_000_000n }],
  },
}

const CHAIN_ID = 1_151_111_081_099_710

/** Solana tokens with a price in the invented market. */
export const SOLANA_TOKENS: readonly MarketToken[] = [
  { chainId: CHAIN_ID, address: USDC.mint, symbol: 'USDC', name: 'USD Coin', decimals: USDC.decimals },
  { chainId: CHAIN_ID, address: USDT.mint, symbol: 'USDT', name: 'Tether USD', decimals: USDT.decimals },
]

// Price of a Solana account's storage (rent), after the first steps of the proposal SIMD-0437, which lowers the rent
// gradually.
const LAMPORTS_PER_BYTE = 5_080
// Bytes for which every account pays rent in addition to its data.
const ACCOUNT_BYTES = 128

const Wallet = z.tuple([z.string()]).rest(z.unknown())
const Accounts = z.tuple([z.string(), z.object({ programId: z.string() })]).rest(z.unknown())
const Size = z.tuple([z.number()]).rest(z.unknown())
const Assets = z.object({ ownerAddress: z.string() })

/**
 * Returns a fake Solana node with the Digital Asset Standard API, under the path /solana (https://solana.com/docs/rpc). `SOLANA_WALLET` has
 * invented tokens and NFTs. Any other wallet has a little SOL and USDC.
 */
export function fakeSolana(): FakeService {
  return createFakeService('/solana', ({ body }) => jsonRpcReply(body, resultOf))
}

function resultOf({ method, params }: JsonRpcCall): unknown {
  const context = { apiVersion: MADE_UP, slot: 1 }
  if (method === 'getBalance') return { context, value: holdingsOf(Wallet.parse(params)[0]).lamports }
  if (method === 'getMinimumBalanceForRentExemption') return (ACCOUNT_BYTES + Size.parse(params)[0]) * LAMPORTS_PER_BYTE
  if (method === 'getTokenAccountsByOwner') {
    const [owner, { programId }] = Accounts.parse(params)
    const accounts = holdingsOf(owner).accounts[programId] ?? []
    return { context, value: accounts.map((account, index) => describeAccount(account, { owner, programId, index })) }
  }
  if (method === 'getAssetsByOwner') {
    const items = assetsOf(Assets.parse(params).ownerAddress)
    return { total: items.length, limit: items.length, page: 1, items }
  }
  return undefined
}

/** Returns the same invented holdings for the same address. */
function holdingsOf(address: string): Holdings {
  if (address === SOLANA_WALLET.address) return LOCAL_HOLDINGS
  const seed = createHash('sha256').update(address).digest()
  return {
    lamports: seed.readUInt32BE(0) % 1_000_000_000,
    accounts: { [TOKEN]: [{ ...USDC, amount: BigInt(seed.readUInt32BE(4) % 100_000_000) }] },
  }
}

function describeAccount(
  { mint, decimals, amount }: Account,
  { owner, programId, index }: { owner: string; programId: string; index: number },
): object {
  const tokenAmount = { amount: amount.toString(), decimals, uiAmount: Number(amount) / 10 ** decimals }
  const info = { isNative: false, mint, owner, state: 'initialized', tokenAmount }
  const program = programId === TOKEN ? 'spl-token' : 'spl-token-2022'
  return {
    pubkey: `${MADE_UP}, ${index}`,
    account: { data: { program, parsed: { type: 'account', info }, space: 165 }, owner: programId, executable: false },
  }
}

function assetsOf(owner: string): object[] {
  if (owner !== SOLANA_WALLET.address) return []
  return [1, 2].map((number) => ({
    interface: 'V1_NFT',
    id: `MadeUpBeacon${number}11111111111111111111111111111`,
    content: {
      json_uri: `https://images.example/beacons/${number}.json`,
      metadata: {
        name: `Beacon #${number}`,
        symbol: 'BEACON',
        description: MADE_UP,
        attributes: [{ trait_type: 'Number', value: number }],
      },
      links: { image: `https://images.example/beacons/${number}.png` },
      files: [],
    },
    compression: { compressed: number === 2 },
    grouping: [
      {
        group_key: 'collection',
        group_value: 'MadeUpBeacons1111111111111111111111111111111',
        collection_metadata: { name: 'Harbor Beacons', symbol: 'BEACON' },
      },
    ],
    ownership: { owner },
    burnt: false,
  }))
}
