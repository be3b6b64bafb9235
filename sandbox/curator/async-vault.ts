import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { getLogs, readContract } from 'viem/actions'
import type { LocalChain } from '../chains.ts'
import { createBatchingClient } from '../rpc.ts'
import { type LocalTransaction, transact } from '../transactions.ts'
import { buildMint, buildSettlement, type Settlement } from './settlement.ts'

const VAULT = parseAbi([
  'function manager() view returns (address)',
  'function asset() view returns (address)',
  'function totalAssets() view returns (uint256)',
  'function price() view returns (uint256)',
  'function convertToShares(uint256) view returns (uint256)',
  'function convertToAssets(uint256) view returns (uint256)',
  'function pendingDepositRequest(uint256, address) view returns (uint256)',
  'function pendingCancelDepositRequest(uint256, address) view returns (bool)',
  'function pendingRedeemRequest(uint256, address) view returns (uint256)',
  'function pendingCancelRedeemRequest(uint256, address) view returns (bool)',
  'function updatePrice(uint256)',
  'function fulfillDeposit(uint256, address, uint256, uint256)',
  'function fulfillCancelDeposit(uint256, address)',
  'function fulfillRedeem(uint256, address, uint256, uint256)',
  'function fulfillCancelRedeem(uint256, address)',
  'event DepositRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets)',
  'event RedeemRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares)',
])

const DEPOSIT = {
  pending: 'pendingDepositRequest',
  isCancelling: 'pendingCancelDepositRequest',
  convert: 'convertToShares',
  fulfill: 'fulfillDeposit',
  fulfillCancellation: 'fulfillCancelDeposit',
} as const
const REDEMPTION = {
  pending: 'pendingRedeemRequest',
  isCancelling: 'pendingCancelRedeemRequest',
  convert: 'convertToAssets',
  fulfill: 'fulfillRedeem',
  fulfillCancellation: 'fulfillCancelRedeem',
} as const

/** Open request of a controller. `pending` is in assets for a deposit, and in shares for a redemption. */
type OpenRequest = {
  readonly side: typeof DEPOSIT | typeof REDEMPTION
  readonly id: readonly [requestId: bigint, controller: Address]
  readonly pending: bigint
  readonly isCancelling: boolean
}

/**
 * Raises an ERC-7540 vault's total assets by `gain`, which raises the share price. Then fulfils all requests and cancellations as the
 * vault's manager.
 */
export async function settleAsyncVault(chain: LocalChain, vault: Address, gain: bigint): Promise<Settlement> {
  const client = createBatchingClient(chain)
  const contract = { address: vault, abi: VAULT } as const
  const [manager, asset, totalAssets, price] = await Promise.all([
    readContract(client, { ...contract, functionName: 'manager' }),
    readContract(client, { ...contract, functionName: 'asset' }),
    readContract(client, { ...contract, functionName: 'totalAssets' }),
    readContract(client, { ...contract, functionName: 'price' }),
  ])
  const call = (label: string, data: LocalTransaction['data']) => ({
    label: `${label} of ${vault}`,
    from: manager,
    to: vault,
    data,
  })

  const newPrice = gain === 0n ? price : (price * (totalAssets + gain)) / totalAssets
  const value = encodeFunctionData({ abi: VAULT, functionName: 'updatePrice', args: [newPrice] })
  const valued = await transact(chain, [...buildMint(manager, asset, gain), call('updatePrice', value)])

  const fulfilments = await Promise.all(
    (await readOpenRequests(chain, vault)).map(async ({ side, id, pending, isCancelling }) => {
      if (isCancelling) {
        return [
          call(
            side.fulfillCancellation,
            encodeFunctionData({ abi: VAULT, functionName: side.fulfillCancellation, args: id }),
          ),
        ]
      }
      const worth = await readContract(client, { ...contract, functionName: side.convert, args: [pending] })
      if (worth === 0n) return []
      const args = [...id, pending, worth] as const
      return [call(side.fulfill, encodeFunctionData({ abi: VAULT, functionName: side.fulfill, args }))]
    }),
  )
  const fulfilled = await transact(chain, fulfilments.flat())
  return buildSettlement(chain, vault, totalAssets + gain, [...valued, ...fulfilled])
}

/** Returns whether an ERC-7540 vault has requests or cancellations that its manager must fulfil. */
export async function asyncVaultHasPending(chain: LocalChain, vault: Address): Promise<boolean> {
  return (await readOpenRequests(chain, vault)).length > 0
}

/** Returns true for an ERC-7540 vault with a manager, and false for a Lagoon vault, which has no manager. */
export function isAsyncVault(chain: LocalChain, vault: Address): Promise<boolean> {
  return readContract(createBatchingClient(chain), { address: vault, abi: VAULT, functionName: 'manager' }).then(
    () => true,
    () => false,
  )
}

async function readOpenRequests(chain: LocalChain, vault: Address): Promise<OpenRequest[]> {
  const client = createBatchingClient(chain)
  const events = VAULT.filter((item) => item.type === 'event')
  const logs = await getLogs(client, { address: vault, events, strict: true, fromBlock: 'earliest' })
  const requested = new Map(
    logs.map(({ eventName, args: { requestId, controller } }) => [
      `${eventName} ${requestId} ${controller}`,
      { side: eventName === 'DepositRequest' ? DEPOSIT : REDEMPTION, id: [requestId, controller] as const },
    ]),
  )
  const requests = await Promise.all(
    [...requested.values()].map(async ({ side, id }) => {
      const contract = { address: vault, abi: VAULT, args: id } as const
      const [pending, isCancelling] = await Promise.all([
        readContract(client, { ...contract, functionName: side.pending }),
        readContract(client, { ...contract, functionName: side.isCancelling }),
      ])
      return { side, id, pending, isCancelling }
    }),
  )
  return requests.filter(({ pending }) => pending > 0n)
}
