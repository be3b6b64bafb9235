import { type Address, encodeFunctionData, type Hash, parseAbi } from 'viem'
import type { LocalChain } from '../chains.ts'
import type { LocalTransaction } from '../transactions.ts'

/** Result of settling a vault: the accepted valuation in the asset's smallest unit, and the hash of the last transaction. */
export type Settlement = {
  readonly chainId: number
  readonly vault: Address
  readonly totalAssets: bigint
  readonly transactionHash: Hash
}

const TOKEN = parseAbi(['function mint(address, uint256)'])

/** Returns the result of settling a vault with these transactions. Throws if no transaction was sent. */
export function buildSettlement(
  { chainId }: LocalChain,
  vault: Address,
  totalAssets: bigint,
  hashes: readonly Hash[],
): Settlement {
  const transactionHash = hashes.at(-1)
  if (!transactionHash) throw new Error('Nothing was sent')
  return { chainId, vault, totalAssets, transactionHash }
}

/** Returns the transaction that mints this amount (in the smallest unit) of a local token. Returns no transaction for 0. */
export function buildMint(account: Address, token: Address, amount: bigint): LocalTransaction[] {
  if (amount === 0n) return []
  const data = encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [account, amount] })
  return [{ label: 'mint', from: account, to: token, data }]
}
