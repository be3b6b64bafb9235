import { useQuery } from '@tanstack/react-query'
import { listVaults, type Vault } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { chainName } from '../chains.ts'
import { useService } from '../context.ts'
import { Amount, AsOf, Yield } from '../parts/figures.tsx'
import { Empty, ProblemNotice } from '../parts/notices.tsx'
import { SkeletonRows } from '../parts/skeletons.tsx'
import { ChainBadge, TokenIcon } from '../parts/tokens.tsx'
import { stateOf, WAYS } from '../vault-state.ts'

/** All vaults of this wallet, the highest yield first, narrowed by the address's own filters. */
export function VaultsPage() {
  const vaults = useQuery(query(listVaults, useService(), undefined))
  return (
    <div className="page">
      <h1>Earn</h1>
      <p className="lead">Deposit tokens into a vault to earn. You hold its shares and can withdraw your money.</p>
      {vaults.error && <ProblemNotice error={vaults.error} onRetry={() => void vaults.refetch()} />}
      {vaults.data ? <VaultTable vaults={vaults.data.data} /> : !vaults.error && <SkeletonRows count={8} />}
    </div>
  )
}

function VaultTable({ vaults }: { vaults: readonly Vault[] }) {
  const [filters, setFilters] = useSearchParams()
  const [search, setSearch] = useState('')
  const chain = filters.get('chain') ?? ''
  const type = filters.get('type') ?? ''
  const choose = (name: string, value: string) =>
    setFilters((before) => {
      const after = new URLSearchParams(before)
      if (value) after.set(name, value)
      else after.delete(name)
      return after
    })
  const showAll = () => {
    setSearch('')
    setFilters({})
  }
  const found = vaults
    .filter((vault) => !chain || `${vault.chainId}` === chain)
    .filter((vault) => !type || vault.type === type)
    .filter(({ name, asset }) => `${name} ${asset.symbol}`.toLowerCase().includes(search.trim().toLowerCase()))
    .toSorted((left, right) => Number(right.annualYield?.percent ?? -1) - Number(left.annualYield?.percent ?? -1))
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
        <select aria-label="Chain" value={chain} onChange={(event) => choose('chain', event.target.value)}>
          <option value="">All chains</option>
          {chains.map((chainId) => (
            <option key={chainId} value={chainId}>
              {chainName(chainId)}
            </option>
          ))}
        </select>
        <select aria-label="Type" value={type} onChange={(event) => choose('type', event.target.value)}>
          <option value="">All types</option>
          <option value="sync">Instant</option>
          <option value="async">After settlement</option>
        </select>
      </search>
      {found.length === 0 ? (
        <Empty title="No vaults found" action={{ text: 'Show all', onClick: showAll }} />
      ) : (
        <table className="list">
          <thead>
            <tr>
              <th scope="col">Vault</th>
              <th scope="col">Yield</th>
              <th scope="col">In the vault</th>
              <th scope="col">Deposits</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {found.map((vault) => (
              <VaultRow key={`${vault.chainId}-${vault.poolAddress}`} vault={vault} />
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}

function VaultRow({ vault }: { vault: Vault }) {
  const { chainId, poolAddress, name, asset, logo_url, terms, totalAssets, stateAsOf } = vault
  const { tone, text, why } = stateOf(vault)
  return (
    <tr className={stateAsOf?.stale ? 'stale' : undefined}>
      <th scope="row">
        <Link className="row-link" href={`/vaults/${chainId}/${poolAddress}`}>
          <TokenIcon symbol={asset.symbol} url={logo_url} />
          <span>
            <strong>{name}</strong>
            <ChainBadge chainId={chainId} />
          </span>
        </Link>
      </th>
      <td data-label="Yield">
        <Yield annualYield={vault.annualYield} />
      </td>
      <td data-label="In the vault">
        <Amount units={totalAssets} decimals={asset.decimals} symbol={asset.symbol} short />{' '}
        {stateAsOf?.stale && <AsOf time={stateAsOf.timestamp} />}
      </td>
      <td data-label="Deposits">{WAYS[terms.entry]}</td>
      <td data-label="State">
        <span className={`chip ${tone}`} title={why}>
          {text}
        </span>
      </td>
    </tr>
  )
}
