import { useQuery } from '@tanstack/react-query'
import { listPositions, listVaults, type Position, type Vault } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { useState } from 'react'
import { useConnection } from 'wagmi'
import { Link } from 'wouter'
import { chainName } from '../chains.ts'
import { useService } from '../context.ts'
import { Amount, CampaignRates, DataTime, Money, PoweredByMerkl, Yield } from '../parts/figures.tsx'
import { EmptyNotice, MissingData, ProblemNotice } from '../parts/notices.tsx'
import { OrderSelect, SortHeadings } from '../parts/order.tsx'
import { SkeletonRows } from '../parts/skeletons.tsx'
import { ChainBadge, TokenIcon } from '../parts/tokens.tsx'
import { usePriceOf, worthOf } from '../prices.ts'
import { describeReason } from '../problems.ts'
import { useFilters } from '../use-filters.ts'
import { describeVaultState, sortVaults, type VaultSortOrder, WAYS } from '../vault-state.ts'

const REFRESH_MS = 20_000

/** Page that lists all vaults of this wallet. The URL holds the sort order and the filters. */
export function VaultsPage() {
  const vaults = useQuery(query(listVaults, useService(), undefined))
  return (
    <div className="page">
      <title>Earn · Vaultline</title>
      <h1>Earn</h1>
      <p className="lead">Deposit tokens into a vault to earn. You hold its shares and can withdraw your money.</p>
      {vaults.error && <ProblemNotice error={vaults.error} onRetry={() => void vaults.refetch()} />}
      {vaults.data ? <VaultTable vaults={vaults.data.data} /> : !vaults.error && <SkeletonRows count={8} />}
    </div>
  )
}

const ORDERS = [
  { by: 'name', text: 'Vault' },
  { by: 'yield', text: 'Yield' },
  { by: 'total', text: 'In the vault' },
] as const satisfies readonly { readonly by: VaultSortOrder; readonly text: string }[]

function VaultTable({ vaults }: { vaults: readonly Vault[] }) {
  const [filters, choose] = useFilters()
  const [search, setSearch] = useState('')
  const { account, positions, problem, errors } = useOwnPositions()
  const priceOf = usePriceOf()
  const totalValueOf = ({ chainId, depositTokenAddress, asset, totalAssets }: Vault) =>
    totalAssets === null ? null : worthOf(totalAssets, asset.decimals, priceOf(chainId, depositTokenAddress))

  const chain = filters.get('chain') ?? ''
  const type = filters.get('type') ?? ''
  const isOwnOnly = account !== undefined && filters.has('mine')
  const order = ORDERS.find(({ by }) => by === filters.get('sort'))?.by ?? 'yield'
  const isReversed = filters.has('reversed')
  const sorting = {
    ...{ orders: ORDERS, order, isReversed },
    onChoose: (by: VaultSortOrder) =>
      choose({ sort: by === 'yield' ? '' : by, reversed: by === order && !isReversed ? '1' : '' }),
  }
  const showAll = () => {
    setSearch('')
    choose({ chain: '', type: '', mine: '' })
  }

  const matches = vaults
    .filter((vault) => !chain || `${vault.chainId}` === chain)
    .filter((vault) => !type || vault.type === type)
    .filter((vault) => !isOwnOnly || positions.has(keyOf(vault)))
    .filter(({ name, asset }) => `${name} ${asset.symbol}`.toLowerCase().includes(search.trim().toLowerCase()))
  const shown = sortVaults(matches, order, { isReversed, totalOf: totalValueOf })
  const chains = [...new Set(vaults.map(({ chainId }) => chainId))]
  return (
    <>
      <search className="filters">
        <input
          type="search"
          aria-label="Search by name or token"
          placeholder="Name or token"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <select aria-label="Chain" value={chain} onChange={(event) => choose({ chain: event.target.value })}>
          <option value="">All chains</option>
          {chains.map((chainId) => (
            <option key={chainId} value={chainId}>
              {chainName(chainId)}
            </option>
          ))}
        </select>
        <select aria-label="Type" value={type} onChange={(event) => choose({ type: event.target.value })}>
          <option value="">All types</option>
          <option value="sync">Instant</option>
          <option value="async">After settlement</option>
        </select>
        <OrderSelect {...sorting} />
        {account && (
          <button
            type="button"
            className="button quiet"
            aria-pressed={isOwnOnly}
            onClick={() => choose({ mine: isOwnOnly ? '' : '1' })}
          >
            My vaults
          </button>
        )}
      </search>
      {problem && <ProblemNotice error={problem} />}
      <MissingData errors={errors} nameOf={(chainId) => chainName(Number(chainId))} />
      {shown.length === 0 ? (
        <EmptyNotice
          title={isOwnOnly && positions.size === 0 ? 'You have no deposits yet' : 'No vaults found'}
          action={{ text: 'Show all', onClick: showAll }}
        />
      ) : (
        <table className="list compact">
          <thead>
            <tr>
              <SortHeadings {...sorting} />
              <th scope="col">Deposits</th>
              {account && <th scope="col">You have</th>}
            </tr>
          </thead>
          <tbody>
            {shown.map((vault) => (
              <VaultRow
                key={keyOf(vault)}
                vault={vault}
                value={totalValueOf(vault)}
                isConnected={account !== undefined}
                position={positions.get(keyOf(vault))}
              />
            ))}
          </tbody>
        </table>
      )}
      {shown.some(({ rewards }) => rewards && rewards.length > 0) && (
        <p className="fine">
          Rewards: <PoweredByMerkl />
        </p>
      )}
    </>
  )
}

function useOwnPositions() {
  const { address: account } = useConnection()
  const service = useService()
  const { data, error } = useQuery({
    // Without an account the query is disabled, so `0x` is only a placeholder here.
    ...query(listPositions, service, { userAddress: account ?? '0x' }),
    enabled: account !== undefined,
    refetchInterval: REFRESH_MS,
  })
  const positions = data?.positions.filter(({ currentValue }) => currentValue !== '0') ?? []
  const errors = Object.entries(data?.errors ?? {}).map(([chainId, why]) => [
    chainId,
    `Your deposits there are missing. ${describeReason(why)}`,
  ])
  return {
    account,
    positions: new Map(
      positions.map((position) => [keyOf({ ...position, poolAddress: position.vaultAddress }), position]),
    ),
    problem: data ? null : error,
    errors: Object.fromEntries(errors),
  }
}

function keyOf({ chainId, poolAddress }: Pick<Vault, 'chainId' | 'poolAddress'>): string {
  return `${chainId} ${poolAddress}`
}

type VaultRowProps = {
  readonly vault: Vault
  readonly value: number | null
  readonly isConnected: boolean
  readonly position: Position | undefined
}

function VaultRow({ vault, value, isConnected, position }: VaultRowProps) {
  const { chainId, poolAddress, name, asset, logo_url, terms, totalAssets, stateAsOf } = vault
  const state = describeVaultState(vault)
  return (
    <tr className={stateAsOf?.stale ? 'stale' : undefined}>
      <th scope="row">
        <Link className="row-link" href={`/vaults/${chainId}/${poolAddress}`}>
          <TokenIcon symbol={asset.symbol} url={logo_url} />
          <span>
            <strong>{name}</strong>
            <span className="badges">
              <ChainBadge chainId={chainId} />
              {state && (
                <span className={`chip ${state.tone}`} title={state.why}>
                  {state.text}
                </span>
              )}
            </span>
          </span>
        </Link>
      </th>
      <td data-label="Yield">
        <span className="pair">
          <Yield annualYield={vault.annualYield} />
          <CampaignRates rewards={vault.rewards} />
        </span>
      </td>
      <td data-label="In the vault">
        <span className="pair">
          <span>
            <Amount units={totalAssets} {...asset} short />
          </span>
          {value !== null && (
            <span className="fine">
              <Money value={value} short />
            </span>
          )}
          {stateAsOf?.stale && <DataTime time={stateAsOf.timestamp} />}
        </span>
      </td>
      <td data-label="Deposits">{WAYS[terms.entry]}</td>
      {isConnected && <td data-label="You have">{position && <Amount units={position.currentValue} {...asset} />}</td>}
    </tr>
  )
}
