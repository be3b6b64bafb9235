import { useQueryClient } from '@tanstack/react-query'
import type { Vault } from '@vaultline/client'
import { useEffect, useEffectEvent, useState } from 'react'
import { useWaitForTransactionReceipt } from 'wagmi'
import { useStore } from '../store.ts'
import { forgetUnderWay, type UnderWay, underWay } from '../under-way.ts'
import { ProblemNotice } from './notices.tsx'
import { Address } from './tokens.tsx'

/** What an account has sent into a vault before a reload and the chain has not mined yet, so that nobody sends it twice. */
export function BeingMined({ vault, account }: { vault: Vault; account: `0x${string}` }) {
  // What is sent from this page is shown where it was sent.
  const [before] = useState(() => underWay.get())
  const mine = useStore(underWay).filter(
    (one) =>
      before.some(({ hash }) => hash === one.hash) &&
      one.account === account &&
      one.vaultAddress === vault.poolAddress &&
      one.chainId === vault.chainId,
  )
  return mine.map((transaction) => <Transaction key={transaction.hash} transaction={transaction} />)
}

function Transaction({ transaction: { hash, chainId, kind } }: { transaction: UnderWay }) {
  const queries = useQueryClient()
  const { data: receipt, error } = useWaitForTransactionReceipt({ hash, chainId })
  const finish = useEffectEvent(() => {
    forgetUnderWay(hash)
    void queries.invalidateQueries()
  })
  useEffect(() => {
    if (receipt) finish()
  }, [receipt])
  return (
    <section className="card" aria-label="On its way">
      <h2>{kind === 'deposit' ? 'Your deposit is on its way' : 'Your withdrawal is on its way'}</h2>
      <p role="status">It is sent and waits for the chain. Do not send it again.</p>
      <Address value={hash} what="the transaction's hash" />
      {error && <ProblemNotice error={error} />}
      <button type="button" className="button quiet" onClick={() => forgetUnderWay(hash)}>
        I cancelled it in my wallet
      </button>
    </section>
  )
}
