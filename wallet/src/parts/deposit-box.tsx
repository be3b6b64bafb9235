import { useQueries, useQuery } from '@tanstack/react-query'
import { getDepositStatus, getWithdrawalStatus, type Vault } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { useId, useState } from 'react'
import { erc20Abi } from 'viem'
import { useConfig, useConnection } from 'wagmi'
import { readContract } from 'wagmi/actions'
import { Link } from 'wouter'
import { chainName } from '../chains.ts'
import { useService } from '../context.ts'
import { formatExactAmount, parseAmount } from '../format.ts'
import { usePendingTransactions } from '../pending-transactions.ts'
import { assetOf, type Token, useTokensOfCoin } from '../tokens.ts'
import { useDebounced } from '../use-debounced.ts'
import { NO_EXIT_TEXT } from '../vault-state.ts'
import { findSource } from './deposit-source.ts'
import { Amount } from './figures.tsx'
import { FlowPanel, Preparing } from './flow-panel.tsx'
import { nameStep } from './flow-steps.tsx'
import { Warning } from './notices.tsx'
import { isOpenStatus } from './requests.tsx'
import { Skeleton } from './skeletons.tsx'

type Kind = 'deposit' | 'withdraw'

/** Milliseconds without typing before the form calls the API. */
const REST_MS = 350

type DepositBoxProps = {
  readonly vault: Vault
  /** Value of the account's shares, in the asset's smallest unit; undefined while it is unknown. */
  readonly positionValue: bigint | undefined
  /** Called with true if the service refuses a deposit because the vault has changed since it was checked. */
  readonly onRefused: (isRefused: boolean) => void
}

/** Form that deposits into a vault or withdraws from it, also from or to another chain. */
export function DepositBox({ vault, positionValue, onRefused }: DepositBoxProps) {
  const { address: account } = useConnection()
  const [kind, setKind] = useState<Kind>('deposit')
  const [sent, setSent] = useState<Sent>()
  return (
    <section className="card" aria-label="Deposit or withdraw">
      <div className="tabs">
        {(['deposit', 'withdraw'] as const).map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={kind === one}
            onClick={() => {
              setKind(one)
              setSent(undefined)
            }}
          >
            {nameStep(one)}
          </button>
        ))}
      </div>
      {account ? (
        <AmountForm
          key={`${kind} ${account}`}
          {...{ vault, kind, account, positionValue, onRefused }}
          onSent={(isAsync) => setSent({ kind, isAsync, at: Date.now() })}
          onEdit={() => setSent(undefined)}
        />
      ) : (
        <>
          <p>Connect a wallet to {kind === 'deposit' ? 'deposit into' : 'withdraw from'} this vault.</p>
          <Link className="button wide" href="/account">
            Connect a wallet
          </Link>
        </>
      )}
      {account && sent && <SentNotice vault={vault} account={account} sent={sent} />}
    </section>
  )
}

/** Deposit or withdrawal that was mined; `at` is in epoch milliseconds. */
type Sent = { readonly kind: Kind; readonly isAsync: boolean; readonly at: number }

/** Shows that a deposit or withdrawal succeeded. In an asynchronous vault the notice disappears once no request is open. */
function SentNotice({ vault, account, sent }: { vault: Vault; account: `0x${string}`; sent: Sent }) {
  const { kind, isAsync, at } = sent
  const service = useService()
  const place = { vaultAddress: vault.poolAddress, userAddress: account, chainId: vault.chainId }
  const deposit = useQuery({ ...query(getDepositStatus, service, place), enabled: isAsync && kind === 'deposit' })
  const withdrawal = useQuery({
    ...query(getWithdrawalStatus, service, place),
    enabled: isAsync && kind === 'withdraw',
  })
  const { data, dataUpdatedAt } = kind === 'deposit' ? deposit : withdrawal
  if (isAsync && data && dataUpdatedAt > at && !isOpenStatus(data.status)) return null
  return (
    <div className="notice good" role="status">
      <p>{doneText(sent)}</p>
    </div>
  )
}

function doneText({ kind, isAsync }: Sent): string {
  if (isAsync) return 'The vault has your request. Follow it on this page.'
  return kind === 'deposit' ? 'Deposited. It earns from now on.' : 'Withdrawn. The money is in your wallet.'
}

type AmountFormProps = DepositBoxProps & {
  readonly kind: Kind
  readonly account: `0x${string}`
  readonly onSent: (isAsync: boolean) => void
  readonly onEdit: () => void
}

function AmountForm({ vault, kind, account, positionValue, onRefused, onSent, onEdit }: AmountFormProps) {
  const home = assetOf(vault)
  const tokens = useTokensOfCoin(home)
  const [text, setText] = useState('')
  const [wantsAll, setWantsAll] = useState(false)
  const [isUnderWay, setUnderWay] = useState(false)
  const [attempt, setAttempt] = useState(0)
  const [chosen, choose] = useState<number>()
  const amountId = useId()
  const balances = useBalances(kind === 'deposit' ? tokens : [], account)
  const units = tokens.map((_, index) => balances[index]?.data)
  const token = tokens.find(({ chainId }) => chainId === chosen) ?? findSource(tokens, units, text) ?? home
  const [from, to] = kind === 'deposit' ? [token, home] : [home, token]

  const balance = balances[tokens.indexOf(from)]
  const available = kind === 'deposit' ? balance?.data : positionValue
  const amount = parseAmount(text, from.decimals)
  // While a transaction is under way, the money has already left the balance, so the amount is not compared with it.
  const isTooMuch = !isUnderWay && !wantsAll && amount !== undefined && available !== undefined && amount > available

  const place = { vaultAddress: vault.poolAddress, userAddress: account, chainId: vault.chainId }
  const deposit = {
    ...place,
    amount: `${amount ?? 0n}`,
    ...(from !== home && { srcChainId: from.chainId, srcToken: from.address }),
  }
  const withdrawal = {
    ...place,
    ...(wantsAll ? { max: true as const } : { amount: `${amount ?? 0n}` }),
    ...(to !== home && { dstChainId: to.chainId, dstToken: to.address }),
  }
  // A withdrawal of the whole position to another chain may send at most the position's value plus 1 %. The position
  // may be worth slightly more when the vault pays.
  const mostSent =
    wantsAll && to !== home && positionValue !== undefined ? positionValue + positionValue / 100n : undefined
  const inputKey = JSON.stringify(kind === 'deposit' ? deposit : withdrawal)
  const isTyping = useDebounced(inputKey, REST_MS) !== inputKey

  const edit = (typed: string, all = false) => {
    setText(typed)
    setWantsAll(all)
    onEdit()
  }
  const finish = (isAsync: boolean) => {
    edit('')
    setUnderWay(false)
    onSent(isAsync)
  }
  const changeUnderWay = (isNow: boolean) => {
    setUnderWay(isNow)
    // A deposit changes the balances, by which the form chooses the source chain. So the form keeps its present source chain.
    if (isNow) choose(token.chainId)
  }
  const canAsk = amount !== undefined && amount > 0n && !isTooMuch
  const restart = () => {
    setUnderWay(false)
    setAttempt(attempt + 1)
  }
  const hasSent = usePendingTransactions(vault, account).some((one) => one.kind === kind)
  const isOnHold = kind === 'deposit' && vault.hasChanged === true
  const isUnread = vault.stateAsOf?.stale === true
  const mustWait = (isOnHold || isUnread) && !isUnderWay
  const panel = {
    ...{ vault, from, to, mostSent, onRefused },
    ...{ amount: amount ?? 0n, onUnderWay: changeUnderWay, onRestart: restart, onSent: finish },
  }
  if (hasSent && !isUnderWay) {
    return <p>See your last {kind === 'deposit' ? 'deposit' : 'withdrawal'} at the top of this page first.</p>
  }
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      {tokens.length > 1 && (
        <label className="field">
          {kind === 'deposit' ? 'From' : 'To'}
          <select
            disabled={isUnderWay}
            value={token.chainId}
            onChange={({ target }) => {
              choose(Number(target.value))
              onEdit()
            }}
          >
            {tokens.map(({ chainId, symbol }) => (
              <option key={chainId} value={chainId}>
                {symbol} on {chainName(chainId)}
              </option>
            ))}
          </select>
        </label>
      )}
      <div className="field">
        <label htmlFor={amountId}>Amount</label>
        <span className="amount-field">
          <input
            id={amountId}
            inputMode="decimal"
            autoComplete="off"
            placeholder="0"
            disabled={isUnderWay}
            value={text}
            onChange={({ target }) => edit(target.value)}
            aria-describedby={`${amountId}-available`}
          />
          <span>{from.symbol}</span>
        </span>
        <span className="row spread" id={`${amountId}-available`}>
          <span>
            {kind === 'deposit' ? 'In your wallet: ' : 'In the vault: '}
            {kind === 'deposit' && balance?.isPending ? (
              <Skeleton width="5em" />
            ) : (
              <Amount units={available} {...from} />
            )}
          </span>
          {available !== undefined && available > 0n && (
            <button
              type="button"
              className="link"
              disabled={isUnderWay}
              onClick={() => edit(formatExactAmount(available, from.decimals), kind === 'withdraw')}
            >
              Max
            </button>
          )}
        </span>
      </div>
      {text && amount === undefined && (
        <p role="alert" className="fine">
          Enter a number such as 1234.56, with at most {from.decimals} decimals.
        </p>
      )}
      {isTooMuch && (
        <p role="alert" className="fine">
          {kind === 'deposit' ? 'Your wallet holds less than this.' : 'This is more than you have in the vault.'}
        </p>
      )}
      {kind === 'deposit' && vault.terms.exit === 'none' && <Warning>{NO_EXIT_TEXT}</Warning>}
      {mustWait && (
        <button type="button" className="button wide" disabled>
          {isUnread ? `${chainName(vault.chainId)} cannot be read now` : 'Deposits are on hold'}
        </button>
      )}
      {!mustWait && !canAsk && (
        <button type="button" className="button wide" disabled>
          {isTooMuch ? 'Enter a smaller amount' : `Enter an amount to ${kind}`}
        </button>
      )}
      {!mustWait && canAsk && isTyping && <Preparing />}
      {!mustWait && canAsk && !isTyping && kind === 'deposit' && (
        <FlowPanel key={`${attempt} ${inputKey}`} kind="deposit" input={deposit} {...panel} />
      )}
      {!mustWait && canAsk && !isTyping && kind === 'withdraw' && (
        <FlowPanel key={`${attempt} ${inputKey}`} kind="withdraw" input={withdrawal} {...panel} />
      )}
    </form>
  )
}

function useBalances(tokens: readonly Token[], account: `0x${string}`) {
  const wagmi = useConfig()
  return useQueries({
    queries: tokens.map(({ chainId, address }) => ({
      queryKey: ['balance', chainId, address, account],
      queryFn: () =>
        readContract(wagmi, { abi: erc20Abi, chainId, address, functionName: 'balanceOf', args: [account] }),
      refetchInterval: 5000,
    })),
  })
}
