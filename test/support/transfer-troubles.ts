import { type Address, getAddress, type Hash, type Hex, maxUint256, numberToHex, pad, parseGwei, slice } from 'viem'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import { type BridgeDeposit, readDeposits } from '../../sandbox/bridge.ts'
import type { LocalChain } from '../../sandbox/chains.ts'
import type { Relayer } from '../../sandbox/relayer.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { readNonces, transact } from '../../sandbox/transactions.ts'
import { buildTransaction, encodeCall, POOLS } from './oracles.ts'
import type { ContractCall } from './transfers.ts'

const GAS = numberToHex(5_000_000)
const STRANGER = ACCOUNTS.anchor.address
const DUST_SECONDS = 7200

/**
 * Ways in which the bridge refunds an expired deposit. `alone` pays each deposit in a transaction of its own.
 * `together` pays the sum of several deposits in one transaction. `deferred` leaves this sum in the pool, where the
 * depositor can claim it. `claimed` defers it too, and then the depositor claims it.
 */
export const REFUND_WAYS = ['alone', 'together', 'deferred', 'claimed'] as const
type RefundWay = (typeof REFUND_WAYS)[number]

/**
 * Creates rare and failing cases of bridge transfers between these chains: refunds, replaced transactions, reorganisations.
 * Only the bridge's contracts and relayer take part, not the service.
 */
export function createTransferTroubles({
  chains,
  relayer,
}: {
  readonly chains: readonly LocalChain[]
  readonly relayer: Relayer
}) {
  const chainOf = (chainId: number) => {
    const chain = chains.find((candidate) => candidate.chainId === chainId)
    if (!chain) throw new Error(`There is no chain ${chainId}`)
    return chain
  }

  /**
   * Makes `count` bridge deposits of one token unit in a victim's name. A third party sends them in one transaction. No relayer
   * fills the deposits, so they expire. Anyone must be able to mint the token.
   */
  const dust = async (
    victim: Address,
    count: number,
    where: { readonly chainId: number; readonly token: Address; readonly seconds?: number },
  ): Promise<BridgeDeposit[]> => {
    const { chainId, token, seconds = DUST_SECONDS } = where
    const chain = chainOf(chainId)
    const other = chains.find((candidate) => candidate.chainId !== chainId)
    const pool = POOLS[chainId]
    if (!other || !pool) throw new Error(`There is no bridge from chain ${chainId}`)
    const [now, then] = await Promise.all([timeOf(chain), timeOf(other)])
    const deposit = encodeCall('deposit', [
      ...[victim, victim, token, token].map((address) => pad(address)),
      ...[1n, 1n, BigInt(other.chainId), pad('0x00'), now, then + seconds, 0, '0x'],
    ])
    const hashes = await transact(chain, [
      buildTransaction(STRANGER, token, 'mint', [STRANGER, BigInt(count)]),
      buildTransaction(STRANGER, token, 'approve', [pool, 0n]),
      buildTransaction(STRANGER, token, 'approve', [pool, maxUint256]),
      buildTransaction(STRANGER, pool, 'multicall', [Array.from({ length: count }, () => deposit)]),
    ])
    const deposits = (await readDeposits(chain)).filter(({ transactionHash }) => transactionHash === hashes.at(-1))
    for (const one of deposits) await relayer.ignore(one)
    return deposits
  }

  return {
    dust,

    /** Sends a transaction that stays in the mempool until `mine` is called. */
    async sendWaiting(chainId: number, from: Address, first: ContractCall) {
      const chain = chainOf(chainId)
      const [nonce = 0] = await readNonces(chain, [from])
      let fee = parseGwei('10')
      // anvil accepts a replacement transaction only if both of its fees are higher.
      const send = async ({ target: to, callData: data }: ContractCall): Promise<Hash> => {
        const fees = { maxFeePerGas: numberToHex(2n * fee), maxPriorityFeePerGas: numberToHex(fee) }
        fee *= 2n
        const terms = { from, to, data, gas: GAS, nonce: numberToHex(nonce), ...fees }
        const [hash] = await callRpc(chain, [{ method: 'eth_sendTransaction', params: [terms] }])
        return hash as Hash
      }
      await callRpc(chain, [{ method: 'evm_setAutomine', params: [false] }])
      return {
        hash: await send(first),
        /** Replaces the waiting transaction by the same call with a higher fee. Returns the new hash. */
        speedUp: () => send(first),
        replace: (call: ContractCall) => send(call),
        /** Replaces the waiting transaction by an empty call of the sender's own account. Returns the new hash. */
        cancel: () => send({ target: from, callData: '0x' }),
        async mine() {
          await callRpc(chain, [{ method: 'evm_mine', params: [] }])
          await callRpc(chain, [{ method: 'evm_setAutomine', params: [true] }])
        },
      }
    },

    /**
     * Fills a bridge deposit with a changed message, recipient or amount, which the depositor signs. Returns two transactions:
     * `speedUp` announces the change on the origin chain, and `fill` pays on the destination.
     */
    async fillChanged(
      deposit: BridgeDeposit,
      change: { readonly message?: Hex; readonly recipient?: Address; readonly outputAmount?: bigint },
    ): Promise<{ readonly speedUp: Hash; readonly fill: Hash }> {
      const speedUp = await relayer.speedUp(deposit, change)
      return { speedUp, fill: await relayer.fill(deposit) }
    },

    /**
     * Simulates a chain reorganisation around a bridge deposit. First `include` sends the deposit, and its block is dropped.
     * Then a third party deposits. Finally `again`, by default `include`, sends the deposit again, which then gets another id.
     * `between` runs before the block is dropped.
     */
    async reorganise(options: {
      readonly chainId: number
      readonly token: Address
      readonly include: () => Promise<Hash>
      readonly between?: (dropped: Hash) => Promise<unknown>
      readonly again?: () => Promise<Hash>
    }): Promise<{ readonly dropped: Hash; readonly hash: Hash }> {
      const { chainId, token, include, between, again = include } = options
      const [snapshot] = await callRpc(chainOf(chainId), [{ method: 'evm_snapshot', params: [] }])
      const dropped = await include()
      await between?.(dropped)
      const [isBack] = await callRpc(chainOf(chainId), [{ method: 'evm_revert', params: [snapshot] }])
      if (isBack !== true) throw new Error(`Chain ${chainId} did not go back`)
      await dust(STRANGER, 1, { chainId, token })
      return { dropped, hash: await again() }
    },

    /**
     * Refunds one account's expired deposits of one token in one of the `REFUND_WAYS`. Returns the hashes of the
     * transactions. `otherDebt` is an amount that the pool owes the account besides the refunds. Every way except
     * `alone` adds this amount to the refunded sum.
     */
    async refund(deposits: readonly BridgeDeposit[], way: RefundWay, otherDebt = 0n): Promise<readonly Hash[]> {
      const [first] = deposits
      if (!first) throw new Error('There is nothing to refund')
      if (way === 'alone') {
        const hashes: Hash[] = []
        for (const deposit of deposits) hashes.push(await relayer.refund(deposit))
        return hashes
      }
      const [token, account] = [accountOf(first.inputToken), accountOf(first.depositor)]
      const other = { chainId: first.originChainId, token, account, amount: otherDebt }
      const payments = otherDebt > 0n ? [other] : []
      const bundle = await relayer.refundTogether(deposits, { payments, deferred: way !== 'together' })
      return way === 'claimed' ? [...bundle, await relayer.claimRefund(first)] : bundle
    },
  }
}

function accountOf(word: Hex): Address {
  return getAddress(slice(word, 12))
}

async function timeOf(chain: LocalChain): Promise<number> {
  const [header] = await callRpc(chain, [{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
  return Number((header as { timestamp: Hex }).timestamp)
}
