import type { GetPositionResponse, Vault } from '@vaultline/client'
import { formatNumber, formatTime } from '../format.ts'
import { toNumber } from '../portfolio.ts'
import { usePriceOf, worthOf } from '../prices.ts'
import { STATUSES } from '../statuses.ts'
import { Chart } from './chart.tsx'
import { Amount, Earned, Money } from './figures.tsx'

/** What an account has in a vault: its value, what went in and came out, what it earned, and its latest deposits. */
export function PositionCard({ position, vault }: { position: GetPositionResponse; vault: Vault }) {
  const { asset, chainId, depositTokenAddress } = vault
  const { currentValue, totalDepositedAssets, totalWithdrawnAssets, earnedAssets, deposits, hasMore } = position
  const price = usePriceOf()(chainId, depositTokenAddress)
  const amount = { decimals: asset.decimals, symbol: asset.symbol }
  return (
    <section className="card" aria-label="Your position">
      <h2>Your position</h2>
      <div>
        <div className="big">
          <Amount units={currentValue} {...amount} />
        </div>
        <span className="row">
          <Money value={worthOf(currentValue, asset.decimals, price)} why={`No price for ${asset.symbol}.`} />
          <Earned units={earnedAssets} {...amount} isPriced={price !== null} />
        </span>
      </div>
      <dl className="facts">
        <div>
          <dt>Deposited</dt>
          <dd>
            <Amount units={totalDepositedAssets} {...amount} />
          </dd>
        </div>
        <div>
          <dt>Withdrawn</dt>
          <dd>
            <Amount units={totalWithdrawnAssets} {...amount} />
          </dd>
        </div>
      </dl>
      {deposits.length > 0 && (
        <table className="list plain">
          <caption className="hidden">Your latest deposits</caption>
          <thead>
            <tr>
              <th scope="col">Deposit</th>
              <th scope="col">Amount</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {deposits.slice(0, 5).map(({ depositId, timestamp, amounts, statusDescription, status }) => (
              <tr key={depositId}>
                <td data-label="Deposit">{formatTime(timestamp)}</td>
                <td data-label="Amount">
                  <Amount units={amounts.depositedAssets} {...amount} />
                </td>
                <td data-label="State" title={statusDescription}>
                  {STATUSES[status].text}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {(hasMore || deposits.length > 5) && <p className="fine">Older deposits are in Activity.</p>}
    </section>
  )
}

/** What a share was worth over the last year, in the asset. */
export function SharePriceChart({ position, vault }: { position: GetPositionResponse; vault: Vault }) {
  const { decimals, symbol } = vault.asset
  const points = position.sharePriceHistory.map(({ timestamp, sharePrice }): [number, number] => [
    Date.parse(timestamp),
    // A line for the eye: no transaction is made of it.
    toNumber(sharePrice, decimals),
  ])
  return (
    <section className="card" aria-label="Share price">
      <h2>Share price</h2>
      <Chart
        points={points}
        label={`Share price of ${vault.name}`}
        format={(value) => `${formatNumber(value)} ${symbol}`}
        empty="No history yet. The price is recorded about every hour."
      />
    </section>
  )
}
