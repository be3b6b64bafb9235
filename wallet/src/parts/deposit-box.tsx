import { useQueryClient } from '@tanstack/react-query'
import type { Vault } from '@vaultline/client'
import type { FlowInputs, FlowState } from '@vaultline/client/flow'
import { useFlow } from '@vaultline/client/react'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { erc20Abi } from 'viem'
import { useConnection, useReadContract } from 'wagmi'
import { Link, useLocation } from 'wouter'
import { chainName } from '../chains.ts'
import { useService, useSurroundings } from '../context.ts'
import { formatDuration, formatExactly, parseAmount } from '../format.ts'
import { useCoins } from '../prices.ts'
import { useSender } from '../sender.ts'
import { rememberTransfer, transferPath } from '../transfers.ts'
import { Amount } from './figures.tsx'
import { actOf, FlowProblem, FlowSteps } from './flow-steps.tsx'
import { NetworkFee } from './network-fee.tsx'
import { Warning } from './notices.tsx'
import { Skeleton } from './skeletons.tsx'

/** A token on a chain that money can come from, or go to. */
type Token = {
  readonly chainId: number
  readonly address: `0x${string}`
  readonly symbol: string
  readonly decimals: number
}

type Kind = 'deposit' | 'withdraw'

/** How long typing has to rest before the service is asked, in ms. */
const REST_MS = 350

/** Puts money into a vault, or takes it out: here, or from and to another chain. */
export function DepositBox({ vault, held }: { vault: Vault; held: string | undefined }) {
  const { address: account } = useConnection()
  const [kind, setKind] = useState<Kind>('deposit')
  const [sent, setSent] = useState<Kind>()
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
            {actOf(one)}
          </button>
        ))}
      </div>
      {account ? (
        <AmountForm
          key={`${kind} ${account}`}
          {...{ vault, kind, account, held }}
          onSent={setSent}
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
      {sent && (
        <div className="notice good" role="status">
          <p>{doneText(sent, vault.type)}</p>
        </div>
      )}
    </section>
  )
}

function doneText(kind: Kind, type: Vault['type']): string {
  if (type === 'async') return 'Your request is with the vault. It is followed on this page.'
  return kind === 'deposit' ? 'Deposited. It earns from now on.' : 'Withdrawn. The money is in your wallet.'
}

type AmountFormProps = {
  readonly vault: Vault
  readonly kind: Kind
  readonly account: `0x${string}`
  /** What the account has in the vault, in the asset's smallest unit; undefined while it is not known. */
  readonly held: string | undefined
  readonly onSent: (kind: Kind) => void
  readonly onEdit: () => void
}

function AmountForm({ vault, kind, account, held, onSent, onEdit }: AmountFormProps) {
  const { asset, chainId, depositTokenAddress, poolAddress } = vault
  const home: Token = { chainId, address: depositTokenAddress, ...asset }
  const tokens = useSameToken(home)
  const [text, setText] = useState('')
  const [wantsAll, setWantsAll] = useState(false)
  const [isUnderWay, setUnderWay] = useState(false)
  const [chosen, choose] = useState(chainId)
  const token = tokens.find((one) => one.chainId === chosen) ?? home
  const isElsewhere = token.chainId !== chainId
  const amountId = useId()

  const balance = useReadContract({
    abi: erc20Abi,
    address: token.address,
    chainId: token.chainId,
    functionName: 'balanceOf',
    args: [account],
    query: { refetchInterval: 5000 },
  })
  const available = kind === 'deposit' ? balance.data : held === undefined ? undefined : BigInt(held)
  const decimals = kind === 'deposit' ? token.decimals : asset.decimals
  const amount = parseAmount(text, decimals)
  const isTooMuch = kind === 'deposit' && amount !== undefined && available !== undefined && amount > available
  const rested = useRested({ amount, wantsAll, token: token.address }, REST_MS)
  const isTyping = rested.amount !== amount || rested.token !== token.address || rested.wantsAll !== wantsAll

  const place = { vaultAddress: poolAddress, userAddress: account, chainId }
  const deposit = {
    ...place,
    amount: `${amount ?? 0n}`,
    ...(isElsewhere && { srcChainId: token.chainId, srcToken: token.address }),
  }
  const withdrawal = {
    ...place,
    ...(wantsAll ? { max: true as const } : { amount: `${amount ?? 0n}` }),
    ...(isElsewhere && { dstChainId: token.chainId, dstToken: token.address }),
  }
  const edit = (typed: string, all = false) => {
    setText(typed)
    setWantsAll(all)
    onEdit()
  }
  const panel = {
    vault,
    token,
    account,
    amount: amount ?? 0n,
    onUnderWay: setUnderWay,
    onSent: () => {
      setText('')
      setWantsAll(false)
      setUnderWay(false)
      onSent(kind)
    },
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
            {tokens.map((one) => (
              <option key={one.chainId} value={one.chainId}>
                {one.symbol} on {chainName(one.chainId)}
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
          <span>{kind === 'deposit' ? token.symbol : asset.symbol}</span>
        </span>
        <span className="row spread" id={`${amountId}-available`}>
          <span>
            {kind === 'deposit' ? 'In your wallet: ' : 'In the vault: '}
            {available === undefined && balance.isPending ? (
              <Skeleton width="5em" />
            ) : (
              <Amount units={available ?? null} decimals={decimals} symbol={token.symbol} />
            )}
          </span>
          {available !== undefined && available > 0n && (
            <button
              type="button"
              className="link"
              disabled={isUnderWay}
              onClick={() => edit(formatExactly(available, decimals), kind === 'withdraw')}
            >
              Everything
            </button>
          )}
        </span>
      </div>
      {text && amount === undefined && (
        <p role="alert" className="fine">
          Enter a number, with at most {decimals} decimals.
        </p>
      )}
      {isTooMuch && (
        <p role="alert" className="fine">
          That is more than your wallet holds.
        </p>
      )}
      {amount !== undefined &&
        amount > 0n &&
        !isTooMuch &&
        (isTyping ? (
          <Preparing />
        ) : kind === 'deposit' ? (
          <FlowPanel key={JSON.stringify(deposit)} kind="deposit" input={deposit} {...panel} />
        ) : (
          <FlowPanel key={JSON.stringify(withdrawal)} kind="withdraw" input={withdrawal} {...panel} />
        ))}
      {(amount === undefined || amount === 0n || isTooMuch) && (
        <button type="button" className="button wide" disabled>
          {kind === 'deposit' ? 'Enter an amount to deposit' : 'Enter an amount to withdraw'}
        </button>
      )}
    </form>
  )
}

function Preparing() {
  return (
    <div className="stack" role="status" aria-label="Preparing the transactions">
      <Skeleton width="100%" />
      <Skeleton width="80%" />
      <button type="button" className="button wide" disabled>
        Preparing …
      </button>
    </div>
  )
}

type FlowPanelProps<K extends Kind> = {
  readonly kind: K
  readonly input: FlowInputs[K]
  readonly vault: Vault
  readonly token: Token
  readonly account: `0x${string}`
  readonly amount: bigint
  /** Told while something is signed or on its way, so that nothing is edited meanwhile. */
  readonly onUnderWay: (isUnderWay: boolean) => void
  readonly onSent: () => void
}

/** What will happen, in words, then the steps, and one button that names the next one. */
function FlowPanel<K extends Kind>({
  kind,
  input,
  vault,
  token,
  account,
  amount,
  onUnderWay,
  onSent,
}: FlowPanelProps<K>) {
  const service = useService()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const sender = useSender()
  const { status, steps, current, prepared, error, next } = useFlow(service, kind, input)
  const hasBegun = steps.some((step) => step.status !== 'todo')
  const transfer = steps.find((step) => step.kind === 'transfer' && step.status === 'done')
  // What is left waits for the vault: the page follows it, also after a reload.
  const isWithVault = steps.some((step) => step.kind === kind && step.status === 'done')

  useEffect(() => onUnderWay(hasBegun), [hasBegun, onUnderWay])
  useEffect(() => {
    if (!transfer?.hash || !transfer.chainId) return
    rememberTransfer({
      hash: transfer.hash,
      srcChainId: transfer.chainId,
      kind: kind === 'deposit' ? 'deposit' : 'withdrawal',
      vault: { chainId: vault.chainId, address: vault.poolAddress, name: vault.name },
      account,
      amount: `${amount}`,
      token: { symbol: token.symbol, decimals: token.decimals },
      startedAt: Date.now(),
      expectedFillSeconds: (prepared && 'quote' in prepared && prepared.quote?.expectedFillSeconds) || 0,
    })
    navigate(transferPath({ srcChainId: transfer.chainId, hash: transfer.hash }))
  }, [transfer?.hash, transfer?.chainId, kind, vault, account, amount, token, prepared, navigate])
  useEffect(() => {
    if (!isWithVault || transfer) return
    void queries.invalidateQueries()
    onSent()
  }, [isWithVault, transfer, queries, onSent])

  if (!prepared && !error) return <Preparing />
  return (
    <>
      {prepared && !hasBegun && (
        <Terms
          {...{ prepared, vault, token, kind, amount }}
          chainId={kind === 'deposit' ? token.chainId : vault.chainId}
        />
      )}
      {(hasBegun || steps.length > 1) && <FlowSteps steps={steps} />}
      {error && <FlowProblem error={error} />}
      <button
        type="button"
        className="button wide primary"
        disabled={status !== 'ready' || error?.code === 'simulation_reverted'}
        onClick={() => void next(sender)}
      >
        {buttonText(
          { status, current, error },
          <Amount units={amount} decimals={token.decimals} symbol={token.symbol} />,
        )}
      </button>
    </>
  )
}

function buttonText(
  { status, current, error }: Pick<FlowState, 'status' | 'current' | 'error'>,
  amount: ReactNode,
): ReactNode {
  if (current?.status === 'confirming') return 'Confirm in your wallet …'
  if (current?.status === 'pending') return 'Waiting for the chain …'
  if (status === 'busy') return 'Preparing …'
  if (error && error.code !== 'simulation_reverted') return 'Try again'
  return current ? (
    <span>
      {actOf(current.kind)} {amount}
    </span>
  ) : (
    'Done'
  )
}

type TermsProps = {
  readonly prepared: NonNullable<FlowState['prepared']>
  readonly vault: Vault
  readonly token: Token
  readonly kind: Kind
  readonly amount: bigint
  /** Where the transactions are sent. */
  readonly chainId: number
}

/** What the user gets, when, and at what price, before anything is signed. */
function Terms({ prepared, vault, token, kind, amount, chainId }: TermsProps) {
  const { asset } = vault
  const quote = 'quote' in prepared ? prepared.quote : undefined
  const withdrawal = 'withdrawal' in prepared ? prepared.withdrawal : undefined
  const paid = withdrawal ? withdrawal.assets : amount
  const arrives = quote ? quote.outputAmount : paid
  const isAsync = prepared.isAsync
  return (
    <>
      <dl className="facts">
        <div>
          <dt>{kind === 'deposit' ? 'Put into the vault' : 'You get'}</dt>
          <dd>
            {withdrawal?.isEstimate && 'about '}
            <Amount units={arrives} decimals={quote ? token.decimals : asset.decimals} symbol={token.symbol} />
          </dd>
        </div>
        {withdrawal?.fee && BigInt(withdrawal.fee) > 0n && (
          <div>
            <dt>The vault keeps</dt>
            <dd>
              <Amount units={withdrawal.fee} decimals={asset.decimals} symbol={asset.symbol} />
            </dd>
          </div>
        )}
        {quote && (
          <div>
            <dt>Bridge fee</dt>
            <dd>
              <Amount units={quote.feeTotal} decimals={token.decimals} symbol={token.symbol} />
            </dd>
          </div>
        )}
        <div>
          <dt>Arrives</dt>
          <dd>
            {quote && `in about ${formatDuration(quote.expectedFillSeconds * 1000)}`}
            {quote && isAsync && ', '}
            {isAsync && 'after the vault’s next settlement'}
            {!quote && !isAsync && 'at once'}
          </dd>
        </div>
        <div>
          <dt>Network fee</dt>
          <dd>
            <NetworkFee
              gas={prepared.estimatedGas}
              chainId={chainId}
              isUpperEstimate={prepared.simulation.status !== 'success'}
            />
          </dd>
        </div>
      </dl>
      {isAsync && (
        <p className="fine">
          {kind === 'deposit'
            ? 'This vault settles: your money waits in its queue, earns from the settlement on, and is then yours to claim as shares.'
            : 'This vault settles: your shares wait in its queue, and what they are worth at the settlement is then yours to claim.'}
        </p>
      )}
      {prepared.simulation.status === 'success' && (
        <p className="fine">✓ A dry run on the latest block went through.</p>
      )}
      {prepared.simulation.status === 'unavailable' && (
        <Warning>The chain cannot try it out at the moment, so nobody knows yet whether it will go through.</Warning>
      )}
    </>
  )
}

/** The vault's asset on all chains of the wallet, its own chain first. */
function useSameToken(home: Token): readonly Token[] {
  const { chains } = useSurroundings().config
  const { data } = useCoins()
  const elsewhere = chains.flatMap(({ chainId }) => {
    const coin = data?.data.find((one) => one.chainId === chainId && one.contract_ticker_symbol === home.symbol)
    if (!coin || chainId === home.chainId) return []
    const { contract_address, contract_ticker_symbol, contract_decimals } = coin
    // The list has addresses with their checksum on these chains.
    return [
      {
        chainId,
        address: contract_address as `0x${string}`,
        symbol: contract_ticker_symbol,
        decimals: contract_decimals,
      },
    ]
  })
  return [home, ...elsewhere]
}

/** A value once it has not changed for a while. */
function useRested<Value extends object>(value: Value, ms: number): Value {
  const [rested, setRested] = useState(value)
  const fields = JSON.stringify(value, (_, field) => (typeof field === 'bigint' ? `${field}` : field))
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms)
    return () => clearTimeout(timer)
  }, [fields, ms])
  return rested
}
