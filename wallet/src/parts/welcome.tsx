import { useQuery } from '@tanstack/react-query'
import { listVaults } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { Link } from 'wouter'
import { useService } from '../context.ts'
import { Amount, Yield } from './figures.tsx'
import { Movers } from './movers.tsx'
import { hasPasskeySupport, NO_PASSKEYS } from './no-passkeys.ts'
import { ProblemNotice } from './notices.tsx'
import { SkeletonRows } from './skeletons.tsx'
import { ChainBadge, TokenIcon } from './tokens.tsx'

const STEPS = [
  {
    title: 'Sign up with a passkey',
    text: hasPasskeySupport() ? 'No password. The passkey is saved in your password manager.' : NO_PASSKEYS,
  },
  {
    title: 'Connect your wallet',
    text: 'You sign each transaction yourself, and see what it does before you do.',
  },
  { title: 'Watch it arrive', text: 'Across chains and through settlement, each step with its time and its hash.' },
]

/** Page that introduces the wallet to new users, with some of its vaults and coins. */
export function Welcome() {
  return (
    <div className="page">
      <title>Vaultline</title>
      <section className="hero">
        <div className="stack">
          <h1>Put your tokens to work. Keep your keys.</h1>
          <p className="lead">
            One wallet for vaults on several chains. Deposit from the chain where your money is, follow it until it
            arrives, and see what it earns.
          </p>
          <p className="row">
            <Link className="button" href="/account">
              Get started
            </Link>
            <Link className="button quiet" href="/vaults">
              See vaults
            </Link>
          </p>
          {import.meta.env.MODE === 'sandbox' && (
            <p className="fine">
              This wallet runs on your machine, with its own chains, test money and made-up prices.
            </p>
          )}
        </div>
        <BestVaults />
      </section>
      <ol className="thirds">
        {STEPS.map(({ title, text }) => (
          <li key={title}>
            <h2>{title}</h2>
            <p className="fine">{text}</p>
          </li>
        ))}
      </ol>
      <div className="card-head">
        <h2>Today’s movers</h2>
        <Link className="fine" href="/markets">
          All coins
        </Link>
      </div>
      <Movers count={4} />
    </div>
  )
}

const BEST = 4

function BestVaults() {
  const vaults = useQuery(query(listVaults, useService(), undefined))
  const best = vaults.data?.data
    .toSorted((left, right) => Number(right.annualYield?.percent ?? -1) - Number(left.annualYield?.percent ?? -1))
    .slice(0, BEST)
  return (
    <section className="card" aria-labelledby="best">
      <div className="card-head">
        <h2 id="best">Best vaults now</h2>
        <Link className="fine" href="/vaults">
          All vaults
        </Link>
      </div>
      {vaults.error && !best && <ProblemNotice error={vaults.error} onRetry={() => void vaults.refetch()} />}
      {!best && !vaults.error && <SkeletonRows count={BEST} />}
      <ul className="lines">
        {best?.map(({ chainId, poolAddress, name, asset, logo_url, annualYield, totalAssets, stateAsOf }) => (
          <li key={`${chainId}-${poolAddress}`} className={stateAsOf?.stale ? 'stale' : undefined}>
            <Link className="line" href={`/vaults/${chainId}/${poolAddress}`}>
              <span className="coin">
                <TokenIcon symbol={asset.symbol} url={logo_url} />
                <span>
                  <strong>{name}</strong>
                  <ChainBadge chainId={chainId} />
                </span>
              </span>
              <span className="line-figures">
                <Yield annualYield={annualYield} />
                <span className="fine">
                  <Amount units={totalAssets} decimals={asset.decimals} symbol={asset.symbol} short />
                </span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
