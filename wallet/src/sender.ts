import type { Sender } from '@vaultline/client/flow'
import { useMemo } from 'react'
import { waitForTransactionReceipt } from 'viem/actions'
import { useConfig } from 'wagmi'
import { getConnection, sendTransaction, switchChain } from 'wagmi/actions'

/** The connected wallet, as what signs and sends in a flow: on the chain of each transaction. */
export function useSender(): Extract<Sender, { sendCalls?: undefined }> {
  const config = useConfig()
  return useMemo(
    () => ({
      async send(call, chainId) {
        if (getConnection(config).chainId !== chainId) await switchChain(config, { chainId })
        return sendTransaction(config, { ...call, chainId })
      },
      async wait(hash, chainId) {
        let wasCancelled = false
        const { status, transactionHash } = await waitForTransactionReceipt(config.getClient({ chainId }), {
          hash,
          onReplaced: ({ reason }) => {
            wasCancelled = reason !== 'repriced'
          },
        })
        return { status: wasCancelled ? 'cancelled' : status, transactionHash }
      },
    }),
    [config],
  )
}
