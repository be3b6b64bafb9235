import type { Vault } from '@vaultline/client'
import type { FlowState } from '@vaultline/client/flow'
import { chainName } from '../chains.ts'
import { formatDuration } from '../format.ts'
import type { Token } from '../tokens.ts'
import { Amount } from './figures.tsx'
import { NetworkFee } from './network-fee.tsx'
import { Warning } from './notices.tsx'

type TermsProps = {
  readonly prepared: NonNullable<FlowState['prepared']>
  readonly kind: 'deposit' | 'withdraw'
  readonly asset: Vault['asset']
  /** What is sent, and what arrives: the same token, here or on another chain, where it can have other decimals. */
  readonly from: Token
  readonly to: Token
  /** In the smallest unit of what is sent. */
  readonly amount: bigint
}

/** What the user gets, when, and at what price, before anything is signed. */
export function Terms({ prepared, kind, asset, from, to, amount }: TermsProps) {
  const { isAsync, simulation, estimatedGas } = prepared
  const quote = 'quote' in prepared ? prepared.quote : undefined
  const withdrawal = 'withdrawal' in prepared ? prepared.withdrawal : undefined
  return (
    <>
      <dl className="facts">
        <div>
          <dt>{kind === 'deposit' ? 'You deposit' : 'You receive'}</dt>
          <dd>
            {withdrawal?.isEstimate && 'about '}
            {quote ? (
              <Amount units={quote.outputAmount} {...to} />
            ) : (
              <Amount units={withdrawal ? withdrawal.assets : amount} {...asset} />
            )}
          </dd>
        </div>
        {withdrawal?.fee && BigInt(withdrawal.fee) > 0n && (
          <div>
            <dt>Vault fee</dt>
            <dd>
              <Amount units={withdrawal.fee} {...asset} />
            </dd>
          </div>
        )}
        {quote && (
          <div>
            <dt>Bridge fee</dt>
            <dd>
              <Amount units={quote.feeTotal} {...from} />
            </dd>
          </div>
        )}
        <div>
          <dt>Arrival</dt>
          <dd>
            {quote && `On ${chainName(to.chainId)} in about ${formatDuration(quote.expectedFillSeconds * 1000)}`}
            {isAsync && (quote ? '; shares after settlement' : 'After settlement')}
            {!quote && !isAsync && 'Instant'}
          </dd>
        </div>
        <div>
          <dt>Network fee</dt>
          <dd>
            <NetworkFee gas={estimatedGas} chainId={from.chainId} isUpperEstimate={simulation.status !== 'success'} />
          </dd>
        </div>
      </dl>
      {isAsync && (
        <p className="fine">
          {kind === 'deposit'
            ? 'Your money waits in the vault’s queue until settlement. Then it earns, and you can claim your shares.'
            : 'Your shares wait in the vault’s queue until settlement. Then you can claim what they are worth at settlement.'}
        </p>
      )}
      {simulation.status === 'success' && <p className="fine">✓ Simulation passed</p>}
      {simulation.status === 'unavailable' && (
        <Warning>The simulation is not available at the moment. The transaction may fail.</Warning>
      )}
    </>
  )
}
