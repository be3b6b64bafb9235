import { useQuery } from '@tanstack/react-query'
import { CallFailure, type GetPositionResponse, getPosition, getVault, type Vault } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { useState } from 'react'
import { isAddress } from 'viem'
import { useConnection } from 'wagmi'
import { useService } from '../context.ts'
import { formatDate, formatDateTime, formatDays } from '../format.ts'
import { DepositBox } from '../parts/deposit-box.tsx'
import { type Fact, Facts } from '../parts/facts.tsx'
import { Amount, CampaignRates, DataTime, Money, PoweredByMerkl, UnknownValue, Yield } from '../parts/figures.tsx'
import { EmptyNotice, ProblemNotice, Warning } from '../parts/notices.tsx'
import { PendingTransactionList } from '../parts/pending-transaction-list.tsx'
import { PositionCard } from '../parts/position-card.tsx'
import { Requests } from '../parts/requests.tsx'
import { PageSkeleton, SkeletonRows } from '../parts/skeletons.tsx'
import { Address, ChainBadge, TokenIcon } from '../parts/tokens.tsx'
import { VaultChart } from '../parts/vault-chart.tsx'
import { usePriceOf, worthOf } from '../prices.ts'
import {
  canHaveRequests,
  describeVaultState,
  describeWay,
  explainUnknownTerm,
  formatFees,
  NO_EXIT_TEXT,
  UNREAD_CHAIN_TEXT,
} from '../vault-state.ts'

/** Page of a vault: its figures, its history, the connected account's position, its terms, and the form to deposit or withdraw. */
export function VaultPage({ chainId, address }: { chainId: number; address: string }) {
  if (!isAddress(address)) return <NoVault />
  return <LoadedVault chainId={chainId} vaultAddress={address} />
}

function NoVault() {
  return (
    <div className="page">
      <EmptyNotice isWholePage title="Vault not found" action={{ href: '/vaults', text: 'See all vaults' }} />
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
    // Polls sooner while the chain cannot be read, so the page recovers quickly.
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
  const { name, description, asset, chainId, logo_url, terms, stateAsOf, vaultState } = vault
  const { address: account } = useConnection()
  const position = usePosition(vault, account)
  // The API refuses deposits immediately after the vault has changed, but its field `hasChanged` follows up to two minutes later. So a
  // refused deposit shows the warning too.
  const [isRefused, setRefused] = useState(false)
  const hasChanged = vault.hasChanged || isRefused
  const state = describeVaultState({ ...vault, hasChanged })
  return (
    <div className="page">
      <title>{`${name} · Vaultline`}</title>
      <header className="row">
        <TokenIcon symbol={asset.symbol} url={logo_url} />
        <h1>{name}</h1>
        <ChainBadge chainId={chainId} />
        {state && (
          <span className={`chip ${state.tone}`} title={state.why}>
            {state.text}
          </span>
        )}
      </header>
      {description && <p className="lead">{description}</p>}
      {problem && <ProblemNotice error={problem} />}
      {stateAsOf?.stale && (
        <Warning>
          The chain of this vault cannot be read at the moment. What you see is <DataTime time={stateAsOf.timestamp} />.
          Nothing can be sent until it is back.
        </Warning>
      )}
      {vaultState?.paused && <Warning>The manager has paused this vault. You cannot withdraw now.</Warning>}
      {terms.exit === 'none' && !vaultState?.paused && <Warning>{NO_EXIT_TEXT}</Warning>}
      {hasChanged && (
        <Warning>This vault has changed and is being checked. Deposits are on hold; you can withdraw.</Warning>
      )}
      <Figures vault={vault} />
      {account && <PendingTransactionList vault={vault} account={account} />}
      {account && canHaveRequests(vault) && <Requests vault={vault} account={account} />}
      <div className="columns">
        <div className="stack">
          <VaultChart vault={vault} />
          {account && <Position vault={vault} position={position} />}
          <TermsCard vault={vault} />
          <Contracts vault={vault} />
        </div>
        <div className="in-view">
          <DepositBox vault={vault} positionValue={computePositionValue(vault, position)} onRefused={setRefused} />
        </div>
      </div>
    </div>
  )
}

const YIELD_DAYS = [7, 30, 90] as const

function Figures({ vault }: { vault: Vault }) {
  const { annualYields, growth, rewards, asset, totalAssets, riskProfile, riskProtocol, stateAsOf } = vault
  const price = usePriceOf()(vault.chainId, vault.depositTokenAddress)
  return (
    <dl className={stateAsOf?.stale ? 'tiles stale' : 'tiles'}>
      {YIELD_DAYS.map((days) => (
        <div key={days} className="tile">
          <dt>{days}-day yield</dt>
          <dd>
            <Yield annualYield={annualYields[`${days}d`]} days={days} />
          </dd>
          <dd className="note">
            {days === 7 && growth
              ? `${growth.percent}% in ${formatDays(growth.days)} so far`
              : describePeriod(annualYields[`${days}d`], days)}
          </dd>
        </div>
      ))}
      {rewards && rewards.length > 0 && (
        <div className="tile">
          <dt>Rewards</dt>
          <dd className="badges">
            <CampaignRates rewards={rewards} />
          </dd>
          <dd className="note">
            A year, on top of the yield. <PoweredByMerkl />
          </dd>
        </div>
      )}
      <div className="tile">
        <dt>In the vault</dt>
        <dd>
          <Amount units={totalAssets} {...asset} short />
        </dd>
        {totalAssets !== null && (
          <dd className="note">
            <Money value={worthOf(totalAssets, asset.decimals, price)} why={`No price for ${asset.symbol}.`} short />
          </dd>
        )}
      </div>
      <div className="tile">
        <dt>Risk</dt>
        <dd className="sentence">{riskProfile || <UnknownValue why="It is not rated." />}</dd>
        {riskProtocol && <dd className="note">Protocol risk: {riskProtocol}</dd>}
      </div>
    </dl>
  )
}

/** Describes a yield as "After fees", with the period if it differs from `days`. */
function describePeriod(annualYield: Vault['annualYield'], days: number): string | undefined {
  if (!annualYield) return undefined
  return Math.round(annualYield.days) === days ? 'After fees' : `Over ${formatDays(annualYield.days)}, after fees`
}

type PositionQuery = ReturnType<typeof usePosition>

function usePosition({ poolAddress, chainId }: Vault, account: `0x${string}` | undefined) {
  const service = useService()
  return useQuery({
    // Without an account the query is disabled, so `poolAddress` is only a placeholder here.
    ...query(getPosition, service, { userAddress: account ?? poolAddress, vaultAddress: poolAddress, chainId }),
    enabled: account !== undefined,
    refetchInterval: 15_000,
  })
}

function hasNone({ error }: PositionQuery): boolean {
  return error instanceof CallFailure && error.error.code === 'position_not_found'
}

/** Returns the value of the shares in the wallet, in the asset's smallest unit; undefined while it is unknown. */
function computePositionValue({ shareDecimals }: Vault, position: PositionQuery): bigint | undefined {
  if (hasNone(position)) return 0n
  if (!position.data) return undefined
  const [shares, value] = [BigInt(position.data.currentShares), BigInt(position.data.currentValue)]
  const oneShare = 10n ** BigInt(shareDecimals)
  const byPrice = (shares * BigInt(position.data.sharePrice)) / oneShare
  // Shares times price is too low by up to one unit a share, because the share price is rounded down. The position's
  // value is exact, but may include open requests. So the exact value is returned only if both differ by no more than
  // this rounding.
  return value - byPrice <= shares / oneShare + 1n ? value : byPrice
}

/** Returns true if value, deposits and withdrawals of a position are all zero, as after a cancelled deposit. */
function isNothing({ currentValue, totalDepositedAssets, totalWithdrawnAssets }: GetPositionResponse): boolean {
  return [currentValue, totalDepositedAssets, totalWithdrawnAssets].every((amount) => amount === '0')
}

function Position({ vault, position }: { vault: Vault; position: PositionQuery }) {
  if (position.data && !isNothing(position.data)) return <PositionCard position={position.data} vault={vault} />
  if (position.data || hasNone(position)) {
    return (
      <section className="card">
        <h2>Your position</h2>
        <p className="fine">You have nothing in this vault yet.</p>
      </section>
    )
  }
  if (position.error) return <ProblemNotice error={position.error} onRetry={() => void position.refetch()} />
  return <SkeletonRows count={3} />
}

const PROTOCOLS = {
  lagoon: 'Lagoon',
  erc7540: 'ERC-7540',
  cooldown: 'ERC-4626 with a cooldown',
  erc4626: 'ERC-4626',
} as const

function TermsCard({ vault }: { vault: Vault }) {
  const { terms, stateAsOf } = vault
  const facts: readonly Fact[] = [
    ['Deposits', describeWay(terms.entry, terms)],
    ['Withdrawals', describeWay(terms.exit, terms)],
    ['Fees', formatFees(terms.fees) ?? (stateAsOf?.stale ? UNREAD_CHAIN_TEXT : 'The vault does not report them.')],
    ['Capacity', <Capacity key="capacity" vault={vault} />],
    // Vaults with requests or cooldowns pay nothing immediately, so liquidity is shown only for instant withdrawals.
    ...(terms.exit === 'instant' ? [['Liquidity', <Liquidity key="liquidity" vault={vault} />] as const] : []),
    ...(terms.valuation?.at ? [['Last valuation', formatDateTime(terms.valuation.at)] as const] : []),
  ]
  return (
    <section className={stateAsOf?.stale ? 'card stale' : 'card'} aria-labelledby="terms">
      <h2 id="terms">Terms</h2>
      <Facts facts={facts} />
    </section>
  )
}

function Capacity({ vault }: { vault: Vault }) {
  const { terms, asset } = vault
  const why = explainUnknownTerm(vault, 'room')
  if (why) return why
  if (terms.room === null) return 'No limit'
  if (terms.room === '0') return 'Full'
  return (
    <>
      Room for <Amount units={terms.room} {...asset} short />
    </>
  )
}

function Liquidity({ vault }: { vault: Vault }) {
  const { terms, asset } = vault
  const why = explainUnknownTerm(vault, 'liquidity')
  if (why) return why
  if (terms.liquidity === null) return 'No limit'
  if (terms.liquidity === '0') return 'Nothing can be withdrawn now'
  return (
    <>
      Up to <Amount units={terms.liquidity} {...asset} short /> can be withdrawn now
    </>
  )
}

function Contracts({ vault }: { vault: Vault }) {
  const { poolAddress, yieldTokenAddress, depositTokenAddress, curatorAddress, valuationManager, chainId } = vault
  const links = [
    ['Vault', poolAddress],
    ...(yieldTokenAddress === poolAddress ? [] : [['Shares', yieldTokenAddress] as const]),
    [vault.asset.symbol, depositTokenAddress],
    ...(curatorAddress ? [['Curator', curatorAddress] as const] : []),
    ...(valuationManager ? [['Valuation manager', valuationManager] as const] : []),
  ] as const
  return (
    <section className="card" aria-labelledby="contracts">
      <h2 id="contracts">Contracts</h2>
      <Facts
        facts={[
          ['Type', PROTOCOLS[vault.protocol]],
          ['Code pinned since', <Pinned key="pinned" pinnedAt={vault.pinnedAt} />],
          ...links.map(
            ([name, value]) =>
              [name, <Address key={name} value={value} what={`the address: ${name}`} chainId={chainId} />] as const,
          ),
        ]}
      />
      {vault.pinnedAt && <p className="fine">If the code changes, deposits stop until it is checked again.</p>}
    </section>
  )
}

function Pinned({ pinnedAt }: Pick<Vault, 'pinnedAt'>) {
  return pinnedAt ? (
    formatDate(pinnedAt)
  ) : (
    <UnknownValue why="Its code is not checked, or the check is not available now." />
  )
}
