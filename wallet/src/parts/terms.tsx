import type { Vault } from '@vaultline/client'
import type { FlowState } from '@vaultline/client/flow'
import { chainName } from '../chains.ts'
import { formatDateTime, formatDuration } from '../format.ts'
import type { Token } from '../tokens.ts'
import { WAYS } from '../vault-state.ts'
import { FactRow } from './facts.tsx'
import { Amount } from './figures.tsx'
import { NetworkFee } from './network-fee.tsx'
import { Warning } from './notices.tsx'

type TermsProps = {
  readonly prepared: NonNullable<FlowState['prepared']>
  readonly kind: 'deposit' | 'withdraw'
  readonly vault: Vault
  /** Token that is sent. `to` is the token that arrives, which can have other decimals on another chain. */
  readonly from: Token
  readonly to: Token
  /** Amount in the smallest unit of the token that is sent. */
  readonly amount: bigint
}

/** Shows the terms of a transaction before the user signs: amounts, fees and time of arrival. */
export function Terms({ prepared, kind, vault, from, to, amount }: TermsProps) {
  const { asset, shareDecimals } = vault
  const { isAsync, simulation, estimatedGas } = prepared
  const quote = 'quote' in prepared ? prepared.quote : undefined
  const withdrawal = 'withdrawal' in prepared ? prepared.withdrawal : undefined
  const deposit = 'deposit' in prepared ? prepared.deposit : undefined
  const isCooldown = kind === 'withdraw' && vault.protocol === 'cooldown'
  const fee = (withdrawal ?? deposit)?.fee
  return (
    <>
      <dl className="facts">
        <FactRow name={kind === 'deposit' ? 'You deposit' : 'You receive'}>
          {withdrawal?.isEstimate && 'about '}
          {quote ? (
            <Amount units={quote.outputAmount} {...to} />
          ) : (
            <Amount units={withdrawal ? withdrawal.assets : amount} {...asset} isExact={kind === 'deposit'} />
          )}
        </FactRow>
        {deposit?.shares && (
          <FactRow name="You receive">
            {deposit.isEstimate && 'about '}
            <Amount units={deposit.shares} decimals={shareDecimals} symbol="shares" />
          </FactRow>
        )}
        {fee && BigInt(fee) > 0n && (
          <FactRow name="Vault fee">
            <Amount units={fee} {...asset} />
          </FactRow>
        )}
        {quote && (
          <FactRow name="Bridge fee">
            <Amount units={quote.feeTotal} {...from} />
          </FactRow>
        )}
        <FactRow name="Arrival">
          {quote && `On ${chainName(to.chainId)} in about ${formatDuration(quote.expectedFillSeconds * 1000)}`}
          {isAsync && (quote ? '; shares after settlement' : WAYS[isCooldown ? 'cooldown' : 'request'])}
          {!quote && !isAsync && 'Instant'}
        </FactRow>
        <FactRow name="Network fee">
          <NetworkFee gas={estimatedGas} chainId={from.chainId} isUpperEstimate={simulation.status !== 'success'} />
        </FactRow>
      </dl>
      {isAsync && (
        <p className="fine">
          {isCooldown
            ? 'Your money waits for the end of the cooldown. Then you can claim it.'
            : kind === 'deposit'
              ? 'Your money waits in the vault’s queue until settlement. Then it earns, and you can claim your shares.'
              : 'Your shares wait in the vault’s queue until settlement. Then you can claim what they are worth at settlement.'}
        </p>
      )}
      {withdrawal?.prolongs && (
        <Warning>
          <Amount units={withdrawal.prolongs.assets} {...asset} /> that already waits until{' '}
          {formatDateTime(withdrawal.prolongs.claimableAt)} will wait until the end of the new cooldown too.
        </Warning>
      )}
      {simulation.status === 'success' && <p className="fine">✓ Simulation passed</p>}
      {simulation.status === 'unavailable' && (
        <Warning>The simulation is not available at the moment. The transaction may fail.</Warning>
      )}
    </>
  )
}
