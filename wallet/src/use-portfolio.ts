import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  getDepositStatus,
  getTransferStatus,
  getWithdrawalStatus,
  listBalances,
  listPositions,
  listVaults,
} from '@vaultline/client'
import { query, queryAnswer } from '@vaultline/client/query'
import { useEffect } from 'react'
import { useCurrency, useService } from './context.ts'
import {
  findVault,
  isBetweenChains,
  listHoldings,
  listRequests,
  sharesOf,
  valuePositions,
  valueTransfers,
} from './portfolio.ts'
import { useCoins } from './prices.ts'
import { isNotApplicable } from './problems.ts'
import { useStore } from './store.ts'
import { closeTransfer, transfers } from './transfers.ts'
import { useAccounts } from './use-accounts.ts'
import { mayWait } from './vault-state.ts'

const REFRESH_MS = 20_000

/**
 * What the user has: the tokens of the wallets that are linked to the account, and of these wallets and of the one that is
 * connected the positions in vaults and the transfers between chains. Each of its queries fails alone.
 */
export function usePortfolio() {
  const service = useService()
  const currency = useCurrency()
  const { isLoggedIn, address, wallets, linked, accounts } = useAccounts()

  const balances = useQuery({
    ...queryAnswer(listBalances, service, { currency }),
    enabled: isLoggedIn,
    refetchInterval: REFRESH_MS,
  })
  const vaults = useQuery(query(listVaults, service, undefined))
  const coins = useCoins()

  const positionQueries = useQueries({
    queries: [...accounts].map((userAddress) => ({
      ...query(listPositions, service, { userAddress }),
      refetchInterval: REFRESH_MS,
    })),
  })
  const positions = valuePositions(
    positionQueries.flatMap(({ data }) => data?.positions ?? []),
    vaults.data?.data ?? [],
    coins.data?.data ?? [],
  )
  // What is asked for and not settled, claimed or taken back is in the state of settled vaults alone.
  const settled = positions.filter((position) => {
    const vault = findVault(vaults.data?.data ?? [], position)
    return vault && mayWait(vault)
  })
  const places = settled.map(({ userAddress, vaultAddress, chainId }) => ({ userAddress, vaultAddress, chainId }))
  const deposits = useQueries({ queries: places.map((place) => query(getDepositStatus, service, place)) })
  const withdrawals = useQueries({ queries: places.map((place) => query(getWithdrawalStatus, service, place)) })
  const requests = settled.flatMap((position, index) => {
    const { shareDecimals = 18 } = findVault(vaults.data?.data ?? [], position) ?? {}
    return listRequests(position, shareDecimals, deposits[index]?.data, withdrawals[index]?.data)
  })

  const { answered, unknown, isLoading: areTransfersLoading } = useTransfers(accounts)
  const moved = valueTransfers(answered, vaults.data?.data ?? [], coins.data?.data ?? [])

  const positionErrors: Record<string, string> = {}
  for (const { data } of positionQueries) Object.assign(positionErrors, data?.errors)
  return {
    isLoggedIn,
    address,
    linked,
    wallets,
    balances,
    vaults,
    coins,
    holdings: balances.data ? listHoldings(balances.data.data, sharesOf(positions, vaults.data?.data ?? [])) : [],
    positions,
    /** By chain id, why positions there are missing. */
    positionErrors,
    // Whose positions there are is in the wallets that are linked.
    positionProblem: positionQueries.find(({ error }) => error)?.error ?? wallets.error,
    retryPositions: () => {
      for (const { error, refetch } of [wallets, ...positionQueries]) if (error) void refetch()
    },
    requests,
    requestProblem: [...deposits, ...withdrawals].find(({ error }) => error && !isNotApplicable(error))?.error,
    /** Between chains, in no wallet and in no vault. */
    underWay: moved.filter(({ progress }) => isBetweenChains(progress)),
    /** Transfers that have failed, until their owner has looked at them. */
    failedTransfers: moved.filter(({ progress }) => progress.status === 'failed'),
    /** Of how many transfers it is not known where they are. */
    unknownTransfers: unknown,
    /** Whether something of the total is asked for the first time. */
    isLoading:
      areTransfersLoading ||
      (isLoggedIn && (balances.isLoading || wallets.isLoading)) ||
      positionQueries.some(({ isLoading }) => isLoading) ||
      (positionQueries.length > 0 && (vaults.isLoading || coins.isLoading)),
  }
}

/** The transfers that these accounts have started in this browser and that are not closed, each with how far it is. */
function useTransfers(accounts: ReadonlySet<string>) {
  const service = useService()
  const queries = useQueryClient()
  const open = useStore(transfers).filter(({ account, isClosed }) => accounts.has(account) && !isClosed)
  const statuses = useQueries({
    queries: open.map(({ hash: txHash, srcChainId, account: userAddress }) =>
      query(getTransferStatus, service, { txHash, srcChainId, userAddress }),
    ),
  })
  const answered = open.flatMap((started, index) => {
    const progress = statuses[index]?.data
    return progress ? [{ started, progress }] : []
  })
  const arrived = answered.filter(({ progress }) => progress.status === 'completed').map(({ started }) => started.hash)
  useEffect(() => {
    if (arrived.length === 0) return
    for (const hash of arrived) closeTransfer(hash)
    // From now on it is a balance or a position.
    void queries.invalidateQueries()
  }, [arrived.join()])
  return {
    answered,
    unknown: statuses.filter(({ data, error }) => error && !data).length,
    isLoading: statuses.some(({ isLoading }) => isLoading),
  }
}

/** What `usePortfolio` gives. */
export type Portfolio = ReturnType<typeof usePortfolio>
