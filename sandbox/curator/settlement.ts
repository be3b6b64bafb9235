import { type Address, createClient, encodeFunctionData, type Hash, http, parseAbi } from 'viem'
import type { LocalChain } from '../chains.ts'
import type { LocalTransaction } from '../transactions.ts'

/** What a settlement did: the valuation it accepted, in the asset's smallest unit, and its last transaction. */
export type Settlement = {
  readonly chainId: number
  readonly vault: Address
  readonly totalAssets: bigint
  readonly transactionHash: Hash
}

const TOKEN = parseAbi(['function mint(address, uint256)'])

/** The settlement that these transactions made; throws when there are none. */
export function settlementOf(
  { chainId }: LocalChain,
  vault: Address,
  totalAssets: bigint,
  hashes: readonly Hash[],
): Settlement {
  const transactionHash = hashes.at(-1)
  if (!transactionHash) throw new Error('Nothing was sent')
  return { chainId, vault, totalAssets, transactionHash }
}

/** What gives an account so much of a token, in its smallest unit; nothing for 0. */
export function mintTo(account: Address, token: Address, amount: bigint): LocalTransaction[] {
  if (amount === 0n) return []
  const data = encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [account, amount] })
  return [{ label: 'mint', from: account, to: token, data }]
}

/** A client of a local chain that asks in batches, once. */
export const clientOf = ({ rpcUrl }: LocalChain) =>
  createClient({ transport: http(rpcUrl, { batch: true, retryCount: 0 }) })
