import { Link } from 'wouter'
import { chainName } from '../chains.ts'
import { shorten } from '../format.ts'
import type { RequestAction, ValuedTransfer } from '../portfolio.ts'
import { transferPath } from '../transfers.ts'
import type { Portfolio } from '../use-portfolio.ts'
import { Amount } from './figures.tsx'
import { ChainBadge } from './tokens.tsx'

const TEXTS = {
  'claim deposit': { text: 'Your shares are ready', act: 'Claim' },
  'claim withdrawal': { text: 'Your money is ready', act: 'Claim' },
  'take back deposit': { text: 'Cancelled: your money is ready', act: 'Claim back' },
  'take back withdrawal': { text: 'Cancelled: your shares are ready', act: 'Claim back' },
} as const

/** Lists each open matter that needs the user's action or attention, with a link. Renders nothing if there are none. */
export function ActionsNeeded({ portfolio }: { portfolio: Portfolio }) {
  const { requests, failedTransfers, unreadChains, address } = portfolio
  const needs = requests.flatMap(({ kind, ...request }) => (kind === 'wait' ? [] : [{ kind, ...request }]))
  return (
    <div aria-live="polite">
      {needs.length + failedTransfers.length > 0 && (
        <section className="needs" aria-labelledby="needs">
          <h2 id="needs">Action needed</h2>
          <ul className="stack">
            {needs.map((need) => (
              <Need key={keyOf(need)} need={need} address={address} />
            ))}
            {failedTransfers.map((transfer) => (
              <FailedTransfer key={transfer.started.hash} transfer={transfer} />
            ))}
          </ul>
        </section>
      )}
      {unreadChains.size > 0 && (
        <p className="fine">Requests on {[...unreadChains].map(chainName).join(' and ')} cannot be read now.</p>
      )}
    </div>
  )
}

type NeedOf = RequestAction & { readonly kind: keyof typeof TEXTS }

function Need({ need: { kind, units, position }, address }: { need: NeedOf; address: string | undefined }) {
  const { text, act } = TEXTS[kind]
  const { chainId, vaultAddress, vaultName, userAddress, assetDecimals, assetSymbol } = position
  const isOwn = userAddress === address
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
          {!isOwn && `. ${address ? 'Switch to' : 'Connect'} ${shorten(userAddress)} in your wallet to claim it`}
        </span>
      </p>
      {isOwn && (
        <Link className="button" href={`/vaults/${chainId}/${vaultAddress}`} aria-label={`${act}: ${vaultName}`}>
          {act}
        </Link>
      )}
      {!address && (
        <Link className="button" href="/account" aria-label={`Connect ${shorten(userAddress)}: ${vaultName}`}>
          Connect
        </Link>
      )}
    </li>
  )
}

function FailedTransfer({ transfer: { started, progress } }: { transfer: ValuedTransfer }) {
  const { kind, vault, amount, from } = started
  return (
    <li className="need">
      <p>
        <strong>
          <Amount units={amount} {...from} />
        </strong>{' '}
        {kind === 'deposit' ? 'for' : 'from'} {vault.name} <ChainBadge chainId={vault.chainId} />
        <br />
        <span className="fine">{describeFailure(progress)}</span>
      </p>
      <Link className="button" href={transferPath(started)} aria-label={`See what happened: ${vault.name}`}>
        See what happened
      </Link>
    </li>
  )
}

function describeFailure({ reason, srcChain, dstChain, refund }: ValuedTransfer['progress']): string {
  const destination = dstChain ? chainName(dstChain.id) : 'the other chain'
  switch (reason) {
    case 'expired':
      if (refund?.claim) return `It did not arrive in time; claim its refund on ${chainName(srcChain.id)}`
      return `It did not arrive in time; the bridge refunds it on ${chainName(srcChain.id)}`
    case 'refunded':
      return `It did not arrive, and is back in your wallet on ${chainName(srcChain.id)}`
    case 'refund_not_found':
      return 'It did not arrive, and its refund was not found'
    case 'destination_action_failed':
      return `It is in your wallet on ${destination}, not in the vault`
    case 'undelivered':
      return `It lies at a public contract on ${destination}, from which anyone can take it`
    default:
      return `The bridge received nothing; check your wallet on ${chainName(srcChain.id)}`
  }
}

function keyOf({ kind, position }: RequestAction): string {
  return `${kind} ${position.userAddress} ${position.chainId} ${position.vaultAddress}`
}
