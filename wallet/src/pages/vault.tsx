import { useQuery } from '@tanstack/react-query'
import { CallFailure, getPosition, getVault, type Vault } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { useState } from 'react'
import { isAddress } from 'viem'
import { useConnection } from 'wagmi'
import { useService } from '../context.ts'
import { formatDays, formatDuration } from '../format.ts'
import { BeingMined } from '../parts/being-mined.tsx'
import { DepositBox } from '../parts/deposit-box.tsx'
import { Amount, AsOf, Unknown, Yield } from '../parts/figures.tsx'
import { Empty, ProblemNotice, Warning } from '../parts/notices.tsx'
import { PositionCard, SharePriceChart } from '../parts/position-card.tsx'
import { Requests } from '../parts/requests.tsx'
import { PageSkeleton, SkeletonRows } from '../parts/skeletons.tsx'
import { Address, ChainBadge, TokenIcon } from '../parts/tokens.tsx'
import { feesOf, mayWait, NO_EXIT, stateOf, WAYS } from '../vault-state.ts'

/** One vault: what it is, what the connected account has in it, and the box that puts money in or takes it out. */
export function VaultPage({ chainId, address }: { chainId: number; address: string }) {
  if (!isAddress(address)) return <NoVault />
  return <LoadedVault chainId={chainId} vaultAddress={address} />
}

function NoVault() {
  return (
    <div className="page">
      <Empty isWholePage title="Vault not found" action={{ href: '/vaults', text: 'See all vaults' }} />
    </div>
  )
}

function LoadedVault(place: { chainId: number; vaultAddress: `0x${string}` }) {
  const {
    data: vault,
    error,
    refetch,
  } = useQuery({
    ...query(getVault, useService(), place),
    // Sooner while its chain cannot be read, so that the page goes on as soon as it can.
    refetchInterval: ({ state }) => (state.data?.stateAsOf?.stale === false ? 15_000 : 5000),
  })
  if (vault) return <VaultDetails vault={vault} problem={error} />
  if (error instanceof CallFailure && error.error.code === 'vault_not_found') return <NoVault />
  if (!error) return <PageSkeleton />
  return (
    <div className="page">
      <ProblemNotice error={error} onRetry={() => void refetch()} />
    </div>
  )
}

function VaultDetails({ vault, problem }: { vault: Vault; problem: Error | null }) {
  const { name, asset, chainId, logo_url, terms, stateAsOf, totalAssets, vaultState } = vault
  const { settlement } = terms
  const { address: account } = useConnection()
  const position = usePosition(vault, account)
  // A deposit sees at once what the service tells of a vault within two minutes.
  const [isRefused, setRefused] = useState(false)
  const hasChanged = vault.hasChanged || isRefused
  const { tone, text, why } = stateOf({ ...vault, hasChanged })
  return (
    <div className="page">
      <title>{`${name} · Vaultline`}</title>
      <header className="row">
        <TokenIcon symbol={asset.symbol} url={logo_url} />
        <h1>{name}</h1>
        <ChainBadge chainId={chainId} />
        <span className={`chip ${tone}`} title={why}>
          {text}
        </span>
      </header>
      {problem && <ProblemNotice error={problem} />}
      {stateAsOf?.stale && (
        <Warning>
          The chain of this vault cannot be read at the moment. What you see is <AsOf time={stateAsOf.timestamp} />.
          Nothing can be sent until it is back.
        </Warning>
      )}
      {vaultState?.paused && <Warning>The manager has paused this vault. Money in it stays there.</Warning>}
      {terms.exit === 'none' && <Warning>{NO_EXIT}</Warning>}
      {hasChanged && (
        <Warning>This vault has changed and is being checked. Deposits are on hold; you can withdraw.</Warning>
      )}
      <dl className={stateAsOf?.stale ? 'tiles stale' : 'tiles'}>
        <div className="tile">
          <dt>Yield</dt>
          <dd>
            <Yield annualYield={vault.annualYield} />
          </dd>
          {vault.annualYield && <dd className="note">over {formatDays(vault.annualYield.days)}, after fees</dd>}
        </div>
        <div className="tile">
          <dt>In the vault</dt>
          <dd>
            <Amount units={totalAssets} decimals={asset.decimals} symbol={asset.symbol} short />
          </dd>
        </div>
        <div className="tile">
          <dt>Deposits</dt>
          <dd>{WAYS[terms.entry]}</dd>
          {terms.entry === 'request' && settlement && <dd className="note">usually {waitOf(settlement)}</dd>}
          {terms.room !== null && (
            <dd className="note">
              room for <Amount units={terms.room} decimals={asset.decimals} symbol={asset.symbol} short />
            </dd>
          )}
        </div>
        <div className="tile">
          <dt>Withdrawals</dt>
          <dd>{WAYS[terms.exit]}</dd>
          {terms.exit === 'cooldown' && terms.cooldownSeconds !== null && (
            <dd className="note">of {formatDuration(terms.cooldownSeconds * 1000)}</dd>
          )}
          {terms.exit === 'request' && settlement && <dd className="note">usually {waitOf(settlement)}</dd>}
        </div>
      </dl>
      {account && <BeingMined vault={vault} account={account} />}
      {account && mayWait(vault) && <Requests vault={vault} account={account} />}
      <div className="columns">
        <div className="stack">
          <Position vault={vault} position={position} isConnected={Boolean(account)} />
          <About vault={vault} />
        </div>
        <DepositBox vault={vault} held={heldIn(vault, position)} onRefused={setRefused} />
      </div>
    </div>
  )
}

function waitOf({ medianSeconds }: NonNullable<Vault['terms']['settlement']>): string {
  return formatDuration(medianSeconds * 1000)
}

type PositionQuery = ReturnType<typeof usePosition>

function usePosition({ poolAddress, chainId }: Vault, account: `0x${string}` | undefined) {
  const service = useService()
  return useQuery({
    // Nobody is asked for without an account; the address only fills its place.
    ...query(getPosition, service, { userAddress: account ?? poolAddress, vaultAddress: poolAddress, chainId }),
    enabled: account !== undefined,
    refetchInterval: 15_000,
  })
}

function hasNone({ error }: PositionQuery): boolean {
  return error instanceof CallFailure && error.error.code === 'position_not_found'
}

/** What the shares in the wallet are worth, in the asset's smallest unit; undefined while it is not known. */
function heldIn({ shareDecimals }: Vault, position: PositionQuery): bigint | undefined {
  if (hasNone(position)) return 0n
  if (!position.data) return undefined
  const { currentShares, sharePrice } = position.data
  return (BigInt(currentShares) * BigInt(sharePrice)) / 10n ** BigInt(shareDecimals)
}

function Position({ vault, position, isConnected }: { vault: Vault; position: PositionQuery; isConnected: boolean }) {
  if (position.data) {
    return (
      <>
        <PositionCard position={position.data} vault={vault} />
        <SharePriceChart position={position.data} vault={vault} />
      </>
    )
  }
  if (!isConnected || hasNone(position)) {
    return (
      <section className="card">
        <h2>Your position</h2>
        <p className="fine">
          {isConnected ? 'You have nothing in this vault yet.' : 'Connect a wallet to see your position.'}
        </p>
      </section>
    )
  }
  if (position.error) return <ProblemNotice error={position.error} onRetry={() => void position.refetch()} />
  return <SkeletonRows count={3} />
}

/** What people call a protocol. */
const PROTOCOLS = {
  lagoon: 'Lagoon',
  erc7540: 'ERC-7540',
  cooldown: 'ERC-4626 with a cooldown',
  erc4626: 'ERC-4626',
} as const

function About({ vault }: { vault: Vault }) {
  const { description, protocol, poolAddress, curatorAddress, valuationManager, depositTokenAddress, asset } = vault
  return (
    <section className="card" aria-label="About this vault">
      <h2>About this vault</h2>
      {description && <p>{description}</p>}
      <dl className="facts">
        <div>
          <dt>Risk</dt>
          <dd>{vault.riskProfile || <Unknown why="It is not rated." />}</dd>
        </div>
        <div>
          <dt>Fees</dt>
          <dd>{feesOf(vault.terms.fees) ?? <Unknown why="The vault does not report its fees." />}</dd>
        </div>
        <div>
          <dt>Protocol</dt>
          <dd>{PROTOCOLS[protocol]}</dd>
        </div>
        <div>
          <dt>Vault</dt>
          <dd>
            <Address value={poolAddress} what="the vault's address" />
          </dd>
        </div>
        <div>
          <dt>{asset.symbol}</dt>
          <dd>
            <Address value={depositTokenAddress} what="the token's address" />
          </dd>
        </div>
        {curatorAddress && (
          <div>
            <dt>Curator</dt>
            <dd>
              <Address value={curatorAddress} what="the curator's address" />
            </dd>
          </div>
        )}
        {valuationManager && (
          <div>
            <dt>Valuation manager</dt>
            <dd>
              <Address value={valuationManager} what="the valuation manager's address" />
            </dd>
          </div>
        )}
      </dl>
    </section>
  )
}
