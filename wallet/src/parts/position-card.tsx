import { useQuery } from '@tanstack/react-query'
import { type GetPositionResponse, listWithdrawals, type Vault } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { Link } from 'wouter'
import { useService } from '../context.ts'
import { formatDateTime } from '../format.ts'
import { usePriceOf, worthOf } from '../prices.ts'
import { STATUS_TEXTS } from '../statuses.ts'
import { Amount, EarnedAmount, Money } from './figures.tsx'
import { Hash } from './tokens.tsx'

const SHOWN = 3

/** Shows an account's position in a vault in four figures, and its latest deposits and withdrawals. */
export function PositionCard({ position, vault }: { position: GetPositionResponse; vault: Vault }) {
  const { asset, chainId, depositTokenAddress } = vault
  const { currentValue, totalDepositedAssets, totalWithdrawnAssets, earnedAssets, deposits } = position
  const { userAddress, vaultAddress } = position
  const withdrawals = useQuery({
    ...query(listWithdrawals, useService(), { userAddress, vaultAddress, chainId, limit: SHOWN }),
    refetchInterval: 15_000,
  })
  const latest = [
    ...deposits.map((deposit) => ({
      ...deposit,
      id: deposit.depositId,
      text: 'Deposit',
      assets: deposit.amounts.depositedAssets,
    })),
    ...(withdrawals.data?.withdrawals ?? []).map((withdrawal) => ({
      ...withdrawal,
      id: withdrawal.withdrawalId,
      text: 'Withdrawal',
    })),
  ].toSorted((one, other) => (one.timestamp < other.timestamp ? 1 : -1))
  const price = usePriceOf()(chainId, depositTokenAddress)
  return (
    <section className="card" aria-label="Your position">
      <div className="card-head">
        <h2>Your position</h2>
        <Link className="fine" href="/activity">
          All activity
        </Link>
      </div>
      <dl className="tiles">
        <div>
          <dt>Value</dt>
          <dd>
            <Amount units={currentValue} {...asset} />
          </dd>
          <dd className="note">
            <Money value={worthOf(currentValue, asset.decimals, price)} why={`No price for ${asset.symbol}.`} />
          </dd>
        </div>
        <div>
          <dt>Earned</dt>
          <dd>
            <EarnedAmount units={earnedAssets} {...asset} isPriced={price !== null} isLabelled />
          </dd>
        </div>
        <div>
          <dt>Deposited</dt>
          <dd>
            <Amount units={totalDepositedAssets} {...asset} />
          </dd>
        </div>
        <div>
          <dt>Withdrawn</dt>
          <dd>
            <Amount units={totalWithdrawnAssets} {...asset} />
          </dd>
        </div>
      </dl>
      {latest.length > 0 && (
        <ul className="lines" aria-label="Your latest deposits and withdrawals">
          {latest.slice(0, SHOWN).map(({ id, text, timestamp, assets, transactionHash, status }) => (
            <li key={id} className="line">
              <span>
                <span>
                  {text}{' '}
                  {status !== 'completed' && (
                    <span className={`chip ${STATUS_TEXTS[status].tone}`}>{STATUS_TEXTS[status].text}</span>
                  )}
                </span>
                <span className="fine">{formatDateTime(timestamp)}</span>
              </span>
              <span className="line-figures">
                {assets === null ? (
                  <span className="fine">Known at settlement</span>
                ) : (
                  <Amount units={assets} {...asset} />
                )}
                <Hash value={transactionHash} chainId={chainId} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
