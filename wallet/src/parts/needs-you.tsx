import { Link } from 'wouter'
import { shorten } from '../format.ts'
import type { VaultRequest } from '../portfolio.ts'
import type { Portfolio } from '../use-portfolio.ts'
import { Amount } from './figures.tsx'
import { ChainBadge } from './tokens.tsx'

const TEXTS = {
  'claim deposit': { text: 'Settled: your shares are ready', act: 'Claim' },
  'claim withdrawal': { text: 'Settled: your money is ready', act: 'Claim' },
  'take back deposit': { text: 'Cancelled: your money can come back', act: 'Take it back' },
  'take back withdrawal': { text: 'Cancelled: your shares can come back', act: 'Take them back' },
} as const

/** What only the user can do next, each with the way to its vault; nothing where nothing awaits them. */
export function NeedsYou({ portfolio: { requests, address } }: { portfolio: Portfolio }) {
  const needs = requests.flatMap(({ kind, ...request }) => (kind === 'wait' ? [] : [{ kind, ...request }]))
  return (
    <div aria-live="polite">
      {needs.length > 0 && (
        <section className="needs" aria-labelledby="needs">
          <h2 id="needs">Needs you</h2>
          <ul className="stack">
            {needs.map((need) => (
              <Need key={keyOf(need)} need={need} address={address} />
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

type NeedOf = VaultRequest & { readonly kind: keyof typeof TEXTS }

function Need({ need: { kind, units, position }, address }: { need: NeedOf; address: string | undefined }) {
  const { text, act } = TEXTS[kind]
  const { chainId, vaultAddress, vaultName, userAddress, assetDecimals, assetSymbol } = position
  return (
    <li className="need">
      <p>
        <strong>
          <Amount units={units} decimals={assetDecimals} symbol={assetSymbol} />
        </strong>{' '}
        in {vaultName} <ChainBadge chainId={chainId} />
        <br />
        <span className="fine">
          {text}
          {userAddress !== address && `, of ${shorten(userAddress)}`}
        </span>
      </p>
      <Link className="button" href={`/vaults/${chainId}/${vaultAddress}`} aria-label={`${act}: ${vaultName}`}>
        {act}
      </Link>
    </li>
  )
}

function keyOf({ kind, position }: VaultRequest): string {
  return `${kind} ${position.userAddress} ${position.chainId} ${position.vaultAddress}`
}
