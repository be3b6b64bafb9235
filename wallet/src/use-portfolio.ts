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
  listMissingChains,
  listRequestActions,
  sharesOf,
  valuePositions,
  valueTransfers,
} from './portfolio.ts'
import { useCoins } from './prices.ts'
import { isNotApplicable } from './problems.ts'
import { useStore } from './store.ts'
import { closeTransfer, transfers } from './transfers.ts'
import { useAccounts } from './use-accounts.ts'
import { canHaveRequests } from './vault-state.ts'

const REFRESH_MS = 20_000

/**
 * Returns the user's portfolio. Tokens are those of the linked wallets. Positions and transfers between chains also include those of the
 * connected wallet. If a query fails, the data of the other queries stays.
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
  // `settled` contains the positions in vaults whose protocol has requests or cooldowns. Other positions cannot have
  // open requests.
  const settled = positions.filter((position) => {
    const vault = findVault(vaults.data?.data ?? [], position)
    return vault && canHaveRequests(vault)
  })
  const places = settled.map(({ userAddress, vaultAddress, chainId }) => ({ userAddress, vaultAddress, chainId }))
  const deposits = useQueries({ queries: places.map((place) => query(getDepositStatus, service, place)) })
  const withdrawals = useQueries({ queries: places.map((place) => query(getWithdrawalStatus, service, place)) })
  const requests = settled.flatMap((position, index) => {
    const { shareDecimals = 18 } = findVault(vaults.data?.data ?? [], position) ?? {}
    return listRequestActions(position, shareDecimals, deposits[index]?.data, withdrawals[index]?.data)
  })

  const { answered, unknown, isLoading: areTransfersLoading } = useTransfers(accounts)
  const moved = valueTransfers(answered, vaults.data?.data ?? [], coins.data?.data ?? [])

  const positionErrors: Record<string, string> = {}
  for (const { data } of positionQueries) Object.assign(positionErrors, data?.errors)
  const holdings = balances.data ? listHoldings(balances.data.data, sharesOf(positions, vaults.data?.data ?? [])) : []
  return {
    isLoggedIn,
    address,
    linked,
    wallets,
    balances,
    vaults,
    coins,
    holdings,
    positions,
    /** Ids of the chains whose balances or positions are missing from the total. */
    missingChains: listMissingChains(
      balances.data?.data,
      holdings,
      positionErrors,
      !address || linked.some((wallet) => wallet.address === address),
    ),
    /** Reasons why positions are missing, by chain id. */
    positionErrors,
    // Without the list of linked wallets, the positions of these wallets are unknown. So an error of that list counts as an error of
    // positions.
    positionProblem: positionQueries.find(({ error }) => error)?.error ?? wallets.error,
    retryPositions: () => {
      for (const { error, refetch } of [wallets, ...positionQueries]) if (error) void refetch()
    },
    requests,
    /** Chains on which the user's requests could not be read. */
    unreadChains: new Set([
      ...Object.keys(positionErrors).map(Number),
      ...places.flatMap(({ chainId }, index) =>
        [deposits[index]?.error, withdrawals[index]?.error].some((error) => error && !isNotApplicable(error))
          ? [chainId]
          : [],
      ),
    ]),
    /** Transfers between chains that have not arrived, so the money is in no wallet and in no vault. */
    underWay: moved.filter(({ progress }) => isBetweenChains(progress)),
    /** Failed transfers whose failure the user has not seen yet. */
    failedTransfers: moved.filter(({ progress }) => progress.status === 'failed'),
    /** Number of transfers whose status could not be fetched. */
    unknownTransfers: unknown,
    /** True while some data of the total is fetched for the first time. */
    isLoading:
      areTransfersLoading ||
      (isLoggedIn && (balances.isLoading || wallets.isLoading)) ||
      positionQueries.some(({ isLoading }) => isLoading) ||
      (positionQueries.length > 0 && (vaults.isLoading || coins.isLoading)),
  }
}

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
    // An arrived transfer becomes a balance or a position, so everything is fetched again.
    void queries.invalidateQueries()
  }, [arrived.join()])
  return {
    answered,
    unknown: statuses.filter(({ data, error }) => error && !data).length,
    isLoading: statuses.some(({ isLoading }) => isLoading),
  }
}

/** Portfolio as `usePortfolio` returns it. */
export type Portfolio = ReturnType<typeof usePortfolio>
