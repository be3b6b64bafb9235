import { useQuery } from '@tanstack/react-query'
import { listWallets } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { useConnection } from 'wagmi'
import { useService } from './context.ts'
import { session } from './service.ts'
import { useStore } from './store.ts'

/** Returns the user's accounts on EVM chains: the connected one, and those linked to the logged-in user. */
export function useAccounts() {
  const isLoggedIn = useStore(session) !== undefined
  const { address } = useConnection()
  const wallets = useQuery({ ...query(listWallets, useService(), undefined), enabled: isLoggedIn })
  const linked = isLoggedIn ? (wallets.data?.wallets ?? []) : []
  const accounts: ReadonlySet<`0x${string}`> = new Set([
    ...(address ? [address] : []),
    // The cast is safe because the service returns EVM addresses with 0x.
    ...linked.filter(({ chain }) => chain === 'evm').map((wallet) => wallet.address as `0x${string}`),
  ])
  return { isLoggedIn, address, wallets, linked, accounts }
}
