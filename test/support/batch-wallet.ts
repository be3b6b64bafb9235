import type { Address, EIP1193RequestFn, Hex } from 'viem'
import type { LocalChain } from '../../sandbox/chains.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { transact } from '../../sandbox/transactions.ts'

/** Behaviour of a simulated wallet that accepts batches of calls (EIP-5792), and the result of its batches. */
export type BatchWalletBehaviour = {
  /** Support for atomic batches. `ready` means that the user must first agree to upgrade the account. */
  readonly atomic?: 'supported' | 'ready' | 'unsupported'
  /** True for a wallet that does not support EIP-5792. */
  readonly isOld?: boolean
  /** Provider error code with which the user rejects a batch. */
  readonly rejects?: number
  readonly code?: 200 | 400 | 500 | 600
}

type Batch = {
  readonly version: string
  readonly chainId: Hex
  readonly from?: Address
  readonly atomicRequired: boolean
  readonly id?: string
  readonly calls: readonly { readonly to: Address; readonly data?: Hex; readonly value?: Hex }[]
  readonly capabilities?: Readonly<Record<string, { readonly optional?: boolean }>>
}

const refusal = (code: number, message: string) => Object.assign(new Error(message), { code })

/**
 * Creates a wallet with one account on one chain that accepts batches of calls (https://eips.ethereum.org/EIPS/eip-5792). The
 * wallet rejects requests that the EIP tells wallets to reject. The first status request of a batch returns 100 (pending).
 * `requestedMethods` lists the RPC methods that the wallet received.
 */
export function createBatchWallet(chain: LocalChain, account: Address, habits: BatchWalletBehaviour = {}) {
  const { atomic = 'supported', isOld = false, rejects, code = 200 } = habits
  const requestedMethods: string[] = []
  const batches = new Map<string, { isPolled: boolean; status: object }>()
  const chainId: Hex = `0x${chain.chainId.toString(16)}`

  async function sendCalls(batch: Batch) {
    if (batch.version !== '2.0.0') throw refusal(-32602, 'Invalid params')
    if (batch.from && batch.from !== account) throw refusal(4100, 'Unauthorized')
    if (batch.chainId !== chainId) throw refusal(5710, 'Unsupported chain id')
    if (Object.values(batch.capabilities ?? {}).some(({ optional }) => !optional)) {
      throw refusal(5700, 'Unsupported non-optional capability')
    }
    const id = batch.id ?? `0x${(batches.size + 1).toString(16).padStart(64, '0')}`
    if (batches.has(id)) throw refusal(5720, 'Duplicate bundle id')
    if (batch.atomicRequired && atomic === 'unsupported') throw refusal(5760, 'Atomicity not supported')
    if (rejects) throw refusal(rejects, 'The user rejected the request')

    const isExecuted = code === 200 || code === 600
    const executed = isExecuted ? batch.calls.slice(0, code === 600 ? 1 : batch.calls.length) : []
    const receipts: unknown[] = []
    for (const { to, data = '0x' } of executed) {
      const [transactionHash] = await transact(chain, [{ label: 'call', from: account, to, data }])
      receipts.push((await callRpc(chain, [{ method: 'eth_getTransactionReceipt', params: [transactionHash] }]))[0])
    }
    const isAtomic = atomic !== 'unsupported'
    batches.set(id, {
      isPolled: false,
      status: { version: '2.0.0', id, chainId, atomic: isAtomic, status: code, receipts },
    })
    return { id }
  }

  function getCallsStatus(id: string) {
    const batch = batches.get(id)
    if (!batch) throw refusal(5730, 'Unknown bundle id')
    const isPending = !batch.isPolled
    batch.isPolled = true
    return isPending ? { ...batch.status, status: 100, receipts: [] } : batch.status
  }

  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    requestedMethods.push(method)
    const [firstParam] = Array.isArray(params) ? params : []
    const isKnown = !isOld && method.startsWith('wallet_')
    if (isKnown && method === 'wallet_getCapabilities') {
      return { [chainId]: atomic === 'unsupported' ? {} : { atomic: { status: atomic } } }
    }
    if (isKnown && method === 'wallet_sendCalls') return sendCalls(firstParam)
    if (isKnown && method === 'wallet_getCallsStatus') return getCallsStatus(firstParam)
    if (method.startsWith('wallet_')) throw refusal(4200, 'The provider does not support the method')
    return (await callRpc(chain, [{ method, params: Array.isArray(params) ? params : [] }]))[0]
  }
  // The cast is needed because viem types a provider's requests by overloads, one per method.
  return { requestedMethods, provider: { request: request as EIP1193RequestFn } }
}
