import { isRejection, type Receipt, type Sender } from '@vaultline/client/flow'
import { useMemo, useState } from 'react'
import { getBlock, waitForTransactionReceipt } from 'viem/actions'
import { useCapabilities, useConfig, type Config as Wagmi } from 'wagmi'
import {
  getConnection,
  getWalletClient,
  sendCalls,
  sendTransaction,
  switchChain,
  waitForCallsStatus,
} from 'wagmi/actions'
import { chainName } from './chains.ts'
import { useAppContext } from './context.ts'

/** Number of a block that every chain has, with a different hash on each chain. The sandbox recognizes its own chains by this hash. */
const FIRST_BLOCK = 1n
/** Longest wait for the result of a batch, in milliseconds. */
const WAIT_MS = 600_000

/**
 * Returns the connected wallet as a `Sender`, which signs and sends a flow's transactions one at a time. It switches the wallet to each
 * transaction's chain and signs only for `account`. A flow that only waits needs no account.
 */
export function useSender(account?: `0x${string}`): Extract<Sender, { sendCalls?: undefined }> {
  const wagmi = useConfig()
  const isSandbox = useAppContext().config.sandbox !== undefined
  return useMemo(
    () => ({
      async send(call, chainId) {
        await switchTo(wagmi, chainId, isSandbox)
        // The call names the account. Otherwise another account would send if the user switches accounts meanwhile.
        return sendTransaction(wagmi, { ...call, ...(account && { account }), chainId })
      },
      async wait(hash, chainId) {
        let wasCancelled = false
        const { status, transactionHash } = await waitForTransactionReceipt(wagmi.getClient({ chainId }), {
          hash,
          onReplaced: ({ reason }) => {
            wasCancelled = reason !== 'repriced'
          },
        })
        return { status: wasCancelled ? 'cancelled' : status, transactionHash }
      },
    }),
    [wagmi, account, isSandbox],
  )
}

/**
 * Returns the connected wallet as a sender of batches (EIP-5792). The user confirms a batch one time, and it executes completely or not at
 * all. Undefined until the wallet is known to support batches on this chain. Also undefined after the wallet refused a batch, or the user
 * refused the upgrade to a smart account.
 */
export function useBatchSender(
  account: `0x${string}`,
  chainId: number,
): Extract<Sender, { send?: undefined }> | undefined {
  const wagmi = useConfig()
  const isSandbox = useAppContext().config.sandbox !== undefined
  const [isRefused, setRefused] = useState(false)
  const { data: capabilities } = useCapabilities({ account, chainId, query: { retry: false, staleTime: Infinity } })
  const { status } = capabilities?.atomic ?? {}
  if (isRefused || (status !== 'supported' && status !== 'ready')) return undefined
  return {
    async sendCalls(calls) {
      await switchTo(wagmi, chainId, isSandbox)
      try {
        return (await sendCalls(wagmi, { account, chainId, calls, forceAtomic: true })).id
      } catch (error) {
        // Wallets refuse batches with many different error codes, so no batch is tried again after an error. One error
        // is an exception: the account is already smart, and the user only declined this batch.
        if (status === 'ready' || !isRejection(error)) setRefused(true)
        throw error
      }
    },
    wait: (id) => waitForBatch(wagmi, id),
  }
}

/** Waits until the connected wallet reports a batch's result. Throws if the wallet does not know the batch, or has sent only a part. */
export async function waitForBatch(wagmi: Wagmi, id: string): Promise<Receipt> {
  const { statusCode, receipts } = await waitForCallsStatus(wagmi, { id, timeout: WAIT_MS })
  const transactionHash = receipts?.at(-1)?.transactionHash
  // Some wallets report success before the receipts or without them, so the hash may be missing.
  if (statusCode === 200) return { status: 'success', transactionHash }
  if (statusCode === 600) throw new Error('Your wallet has sent only a part. Look at its activity before you go on.')
  // Status 400 means that the wallet has given up the batch and sent nothing.
  return { status: statusCode === 400 ? 'cancelled' : 'reverted', transactionHash }
}

async function switchTo(wagmi: Wagmi, chainId: number, isSandbox: boolean): Promise<void> {
  if (getConnection(wagmi).chainId !== chainId) await switchChain(wagmi, { chainId })
  if (isSandbox) await requireLocalChain(wagmi, chainId)
}

/**
 * Throws unless the wallet's first block equals that of the sandbox's chain. Sandbox chains have the ids of real chains, on which the
 * wallet would otherwise spend real money.
 */
async function requireLocalChain(wagmi: Wagmi, chainId: number): Promise<void> {
  const wallet = await getWalletClient(wagmi, { chainId })
  const ask = { blockNumber: FIRST_BLOCK }
  const [theirs, ours] = await Promise.all([getBlock(wallet, ask), getBlock(wagmi.getClient({ chainId }), ask)])
  if (theirs.hash === ours.hash) return
  const name = chainName(chainId)
  throw new Error(`Your wallet uses the real ${name}. Switch it to the ${name} of the sandbox.`)
}
