import type { Sender } from '@vaultline/client/flow'
import { useMemo } from 'react'
import { getBlock, waitForTransactionReceipt } from 'viem/actions'
import { useConfig, type Config as Wagmi } from 'wagmi'
import { getConnection, getWalletClient, sendTransaction, switchChain } from 'wagmi/actions'
import { chainName } from './chains.ts'
import { useSurroundings } from './context.ts'

/** A block that every chain has, and no two chains share. */
const FIRST_BLOCK = 1n

/**
 * The connected wallet, as what signs and sends in a flow: on the chain of each transaction, and for this account alone, which a
 * flow that only waits does not need.
 */
export function useSender(account?: `0x${string}`): Extract<Sender, { sendCalls?: undefined }> {
  const wagmi = useConfig()
  const isSandbox = useSurroundings().config.sandbox !== undefined
  return useMemo(
    () => ({
      async send(call, chainId) {
        if (getConnection(wagmi).chainId !== chainId) await switchChain(wagmi, { chainId })
        if (isSandbox) await requireLocalChain(wagmi, chainId)
        // Named, so that no other account sends where somebody switches in the middle.
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
 * The chains of the sandbox have the numbers of real ones: a wallet that is on the real one would sign with real money. Throws
 * unless the wallet has the same first block as the sandbox's chain.
 */
async function requireLocalChain(wagmi: Wagmi, chainId: number): Promise<void> {
  const wallet = await getWalletClient(wagmi, { chainId })
  const ask = { blockNumber: FIRST_BLOCK }
  const [theirs, ours] = await Promise.all([getBlock(wallet, ask), getBlock(wagmi.getClient({ chainId }), ask)])
  if (theirs.hash === ours.hash) return
  const name = chainName(chainId)
  throw new Error(`Your wallet is on the real ${name}, and this page is about one on this machine. Switch it first.`)
}
