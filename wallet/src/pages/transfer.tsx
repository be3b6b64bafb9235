import { useMutation } from '@tanstack/react-query'
import type { GetTransferStatusResponse } from '@vaultline/client'
import { useTransfer } from '@vaultline/client/react'
import { useEffect } from 'react'
import { useConnection } from 'wagmi'
import { Link } from 'wouter'
import { stepsOfTransfer } from '../activity.ts'
import { chainName } from '../chains.ts'
import { useService } from '../context.ts'
import { Amount } from '../parts/figures.tsx'
import { FlowProblem } from '../parts/flow-steps.tsx'
import { EmptyNotice, ProblemNotice } from '../parts/notices.tsx'
import { Steps } from '../parts/steps.tsx'
import { Address, Hash } from '../parts/tokens.tsx'
import { UnknownTransactionWarning, useIsUnknownTransaction } from '../parts/unknown-transaction.tsx'
import type { StartedTransfer } from '../portfolio.ts'
import { useSender } from '../sender.ts'
import { useStore } from '../store.ts'
import { closeTransfer, transfers } from '../transfers.ts'

/** Page that shows a transfer between chains. The hash is in the URL, so a reload loses nothing. */
export function TransferPage({ chainId, hash }: { chainId: number; hash: string }) {
  if (!isHash(hash)) {
    return (
      <div className="page narrow">
        <EmptyNotice isWholePage title="Transfer not found" action={{ href: '/activity', text: 'See your activity' }} />
      </div>
    )
  }
  return <FollowedTransfer srcChainId={chainId} txHash={hash} />
}

function isHash(text: string): text is `0x${string}` {
  return /^0x[0-9a-f]{64}$/i.test(text)
}

function FollowedTransfer({ srcChainId, txHash }: { srcChainId: number; txHash: `0x${string}` }) {
  const { address } = useConnection()
  const started = useStore(transfers).find(({ hash }) => hash === txHash)
  // One transaction can contain transfers of several accounts, so the account selects the transfer.
  const input = { srcChainId, txHash, userAddress: started?.account ?? address }
  const { progress, error, status, next } = useTransfer(useService(), input)
  const sender = useSender()
  const transfer = progress && 'depositId' in progress ? progress : undefined
  const title = started
    ? `${started.kind === 'deposit' ? 'Deposit into' : 'Withdrawal from'} ${started.vault.name}`
    : 'Transfer'
  const isOver = transfer?.terminal === true
  const isUnseen = useIsUnknownTransaction(txHash, srcChainId, started?.startedAt) && transfer?.status === 'pending'
  useEffect(() => {
    if (isOver) closeTransfer(txHash)
  }, [isOver, txHash])
  return (
    <div className="page narrow">
      <title>{`${title} · Vaultline`}</title>
      <h1>{title}</h1>
      <section className="card" aria-label="Where it is">
        {started && (
          <p className="big">
            <Amount units={started.amount} {...started.from} />
          </p>
        )}
        <Steps steps={stepsOfTransfer(transfer, { srcChainId, hash: txHash, now: Date.now() })} isAcross />
        <div role="status">
          {isUnseen && <UnknownTransactionWarning chainId={srcChainId} />}
          {!transfer && <p>Looking for the transaction …</p>}
          {transfer && !isUnseen && <Outcome transfer={transfer} started={started} />}
        </div>
        {transfer?.replacedBy && (
          <p className="fine">
            Another transaction carried this transfer: <Hash value={transfer.replacedBy} chainId={srcChainId} />
          </p>
        )}
        {transfer?.refund?.claim && <RefundClaim transfer={transfer} claim={transfer.refund.claim} />}
        {error && error.code !== 'transfer_failed' && (
          <>
            <FlowProblem error={error} />
            {status === 'ready' && (
              <button type="button" className="button quiet" onClick={() => void next(sender)}>
                Try again
              </button>
            )}
          </>
        )}
        {started && transfer?.status === 'completed' && (
          <Link className="button" href={`/vaults/${started.vault.chainId}/${started.vault.address}`}>
            {started.kind === 'deposit' ? 'See your position' : 'Back to the vault'}
          </Link>
        )}
      </section>
    </div>
  )
}

type SumProps = {
  readonly of: GetTransferStatusResponse['input'] | undefined
  readonly units?: string | null | undefined
  readonly otherwise?: string
}

/** Shows an amount of a token, by default the transferred amount. If the token's symbol is unknown, shows `otherwise` instead. */
function Sum({ of, units = of?.amount, otherwise = 'Your money' }: SumProps) {
  if (!of?.symbol || of.decimals === null || !units) return otherwise
  return <Amount units={units} symbol={of.symbol} decimals={of.decimals} />
}

type OutcomeProps = { readonly transfer: GetTransferStatusResponse; readonly started: StartedTransfer | undefined }

function Outcome({ transfer, started }: OutcomeProps) {
  const { status, reason, statusDescription, srcChain, dstChain, refund, input, output, outputAmount } = transfer
  const source = chainName(srcChain.id)
  const destination = dstChain ? chainName(dstChain.id) : 'the other chain'
  if (status === 'completed') return <Done {...{ transfer, started, destination }} />
  switch (reason) {
    case 'source_reverted':
      return <Where>The transaction failed: your money is still in your wallet on {source}.</Where>
    case 'source_dropped':
      return (
        <Where>
          The transaction was not included and no longer can be. Your account made no deposit with its terms: this
          transfer took nothing from your wallet on {source}.
        </Where>
      )
    case 'no_deposit_in_transaction':
      return <Where>The bridge received nothing from this transaction. Check it on {source}.</Where>
    case 'refunded':
      return (
        <Where>
          <Sum of={input} units={refund?.amount} /> is back in your wallet on {source}.
        </Where>
      )
    case 'refund_not_found':
      return (
        <Where>
          We found no refund that is certainly for this transfer. Check your wallet on {source}, and send us the hash.
        </Where>
      )
    case 'destination_action_failed':
      return (
        <Where>
          <Sum of={output} units={outputAmount} /> arrived in your wallet on {destination}; the vault did not take it.
          Deposit it from there.
        </Where>
      )
    case 'undelivered':
      return (
        <Where>
          <Sum of={output} units={outputAmount} /> arrived without an instruction. It lies at a public contract on{' '}
          {destination}, from which anyone can take it.
        </Where>
      )
    default:
      return status === 'failed' ? <Where>{statusDescription}</Where> : <p>{statusDescription}</p>
  }
}

function Done({ transfer, started, destination }: OutcomeProps & { readonly destination: string }) {
  const { action, output, outputAmount, recipient, depositor, vaultAddress } = transfer
  const chainId = transfer.dstChain?.id
  const isOwn = recipient === (started?.account ?? depositor)
  const isOtherVault = started?.kind === 'deposit' && vaultAddress !== started.vault.address
  const vault = isOtherVault ? 'another vault' : 'the vault'
  const wallet = isOwn ? 'your wallet' : 'another wallet'
  return (
    <p>
      Done. <Sum of={output} units={outputAmount} /> is in {action === 'deposit' ? vault : wallet} on {destination}
      {action === 'deposit' && !isOwn && ', for another account'}.{' '}
      {isOtherVault && vaultAddress && <Address value={vaultAddress} what="the vault's address" chainId={chainId} />}
      {!isOwn && recipient && <Address value={recipient} what="the account's address" chainId={chainId} />}
    </p>
  )
}

function Where({ children }: { children: React.ReactNode }) {
  return (
    <div className="notice warn">
      <p>{children}</p>
    </div>
  )
}

type Claim = NonNullable<NonNullable<GetTransferStatusResponse['refund']>['claim']>

/** Lets the user claim a refund that the bridge could not pay out. Only the account that is owed the refund can claim it. */
function RefundClaim({
  transfer: { depositor, input, refund },
  claim,
}: {
  transfer: GetTransferStatusResponse
  claim: Claim
}) {
  const { address } = useConnection()
  const sender = useSender(depositor ?? undefined)
  const sum = <Sum of={input} units={refund?.amount} otherwise="the refund" />
  const { mutate, status, error } = useMutation({
    mutationFn: async ({ chainId, to, data, value }: Claim) => {
      const call = { to, data: data as `0x${string}`, value: BigInt(value) }
      const hash = await sender.send(call, chainId, depositor as `0x${string}`)
      if ((await sender.wait(hash, chainId)).status !== 'success') throw new Error('The claim failed. Try again.')
    },
  })
  if (status === 'success') return <p role="status">Claimed: {sum} is in your wallet.</p>
  if (!depositor || address !== depositor) {
    return (
      <p className="fine">
        Use {depositor && <Address value={depositor} what="the account's address" />} in your wallet to claim {sum}.
      </p>
    )
  }
  return (
    <>
      {error && <ProblemNotice error={error} />}
      <button
        type="button"
        className="button wide primary"
        disabled={status === 'pending'}
        onClick={() => mutate(claim)}
      >
        {status === 'pending' ? 'Confirm in your wallet …' : <span>Claim {sum}</span>}
      </button>
    </>
  )
}
