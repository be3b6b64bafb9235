import { useGasPrice } from 'wagmi'
import { findChain } from '../chains.ts'
import { isBelowSmallest } from '../format.ts'
import { NATIVE_COIN, usePriceOf, worthOf } from '../prices.ts'
import { Amount, Money } from './figures.tsx'
import { Skeleton } from './skeletons.tsx'

type NetworkFeeProps = {
  readonly gas: string
  readonly chainId: number
  /** True if the actual fee can be less, because the transaction was not simulated. */
  readonly isUpperEstimate: boolean
}

/** Shows a transaction's network fee at the present gas price, in the chain's coin and in the chosen currency. */
export function NetworkFee({ gas, chainId, isUpperEstimate }: NetworkFeeProps) {
  const price = useGasPrice({ chainId })
  const priceOf = usePriceOf()
  const { nativeCurrency } = findChain(chainId)
  if (price.isPending) return <Skeleton width="8em" />
  if (price.data === undefined) return <>{gas} units of gas</>
  const fee = BigInt(gas) * price.data
  return (
    <>
      {!isBelowSmallest(fee, nativeCurrency.decimals) && (isUpperEstimate ? 'at most ' : 'about ')}
      <Amount units={fee} decimals={nativeCurrency.decimals} symbol={nativeCurrency.symbol} />{' '}
      <span className="fine">
        (<Money value={worthOf(fee, nativeCurrency.decimals, priceOf(chainId, NATIVE_COIN))} />)
      </span>
    </>
  )
}
