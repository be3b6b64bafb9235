import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { linkWallet, listWallets, orThrow, startLinkingWallet, unlinkWallet } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { useState } from 'react'
import { useSignMessage } from 'wagmi'
import { useService } from '../context.ts'
import { numberDuplicates, shorten } from '../format.ts'
import { withFreshLogin } from '../passkeys.ts'
import { connectSolana, type SolanaWallet, signWithSolana } from '../solana.ts'
import { solanaWallets } from '../solana-wallets.ts'
import { useStore } from '../store.ts'
import { useKeptFocus } from '../use-kept-focus.ts'
import { ProblemNotice } from './notices.tsx'
import { Skeleton } from './skeletons.tsx'
import { Address } from './tokens.tsx'

/** Lists the account's linked wallets, and lets the user link the connected wallet and Solana wallets. */
export function LinkedWallets({ address }: { address: string | undefined }) {
  const service = useService()
  const queries = useQueryClient()
  const { mutateAsync: sign } = useSignMessage()
  const solana = useStore(solanaWallets)
  const wallets = useQuery(query(listWallets, service, undefined))
  const [said, setSaid] = useState('')
  // Balances depend on the linked wallets, so all data is fetched again.
  const finish = async (text: string) => {
    await queries.invalidateQueries()
    setSaid(text)
  }
  const link = useMutation({
    mutationFn: async (evmAddress: string) => {
      const start = () => startLinkingWallet(service, { address: evmAddress, chain: 'evm' })
      const { message } = await withFreshLogin(service, start)
      orThrow(await linkWallet(service, { message, signature: await sign({ message }) }))
    },
    onSuccess: (_, linked) => finish(`${shorten(linked)} is linked.`),
  })
  const linkSolana = useMutation({
    mutationFn: async (wallet: SolanaWallet) => {
      const account = await connectSolana(wallet)
      const start = () => startLinkingWallet(service, { address: account.address, chain: 'solana' })
      const { message } = await withFreshLogin(service, start)
      const signature = await signWithSolana(wallet, account, message)
      return orThrow(await linkWallet(service, { message, signature }))
    },
    onSuccess: (linked) => finish(`${shorten(linked.address)} is linked.`),
  })
  const unlink = useMutation({
    mutationFn: async (linked: string) => orThrow(await unlinkWallet(service, { address: linked })),
    onSuccess: (_, linked) => finish(`${shorten(linked)} is unlinked.`),
  })
  const changes = [link, linkSolana, unlink]
  const isBusy = changes.some(({ isPending }) => isPending)
  const error = changes.find((change) => change.error)?.error
  const begin = () => {
    setSaid('')
    for (const change of changes) change.reset()
  }
  const list = useKeptFocus<HTMLUListElement>(wallets.data?.wallets.length)
  if (!wallets.data) {
    return wallets.error ? (
      <ProblemNotice error={wallets.error} onRetry={() => void wallets.refetch()} />
    ) : (
      <Skeleton width="12em" />
    )
  }
  const linked = wallets.data.wallets
  const isOfUser = ({ address: one }: { readonly address: string }) => linked.some((wallet) => wallet.address === one)
  const isLinked = address !== undefined && isOfUser({ address })
  const linkable = solana.filter(({ accounts }) => !accounts.some(isOfUser))
  const names = numberDuplicates(linkable.map(({ name }) => name))
  return (
    <>
      <ul className="stack" ref={list} tabIndex={-1} aria-label="Linked wallets">
        {linked.map((wallet) => (
          <li key={wallet.address} className="row spread">
            <span className="row">
              <Address value={wallet.address} what="the linked wallet's address" />
              {wallet.chain === 'solana' && <span className="chip">Solana</span>}
            </span>
            <button
              type="button"
              className="button quiet"
              disabled={isBusy}
              onClick={() => {
                begin()
                unlink.mutate(wallet.address)
              }}
            >
              Unlink
            </button>
          </li>
        ))}
      </ul>
      {!address && linked.length === 0 && (
        <p className="fine">With an account and a wallet, your portfolio shows what the wallet holds.</p>
      )}
      {address && !isLinked && (
        <button
          type="button"
          className="button primary"
          disabled={isBusy}
          onClick={() => {
            begin()
            link.mutate(address)
          }}
        >
          {link.isPending ? 'Sign in your wallet …' : 'Link this wallet'}
        </button>
      )}
      {linkable.length > 0 && (
        <ul className="wallets" aria-label="Solana wallets">
          {linkable.map((wallet, index) => (
            <li key={names[index]}>
              <button
                type="button"
                className="button wallet"
                disabled={isBusy}
                onClick={() => {
                  begin()
                  linkSolana.mutate(wallet)
                }}
              >
                <img src={wallet.icon} alt="" width={28} height={28} />
                {linkSolana.isPending ? 'Sign in your wallet …' : `Link ${names[index]}`}
              </button>
            </li>
          ))}
        </ul>
      )}
      {((address && !isLinked) || linkable.length > 0) && (
        <p className="fine">You sign a message to prove that the wallet is yours. It is free and moves no money.</p>
      )}
      {error && <ProblemNotice error={error} />}
      <p className="hidden" role="status">
        {said}
      </p>
    </>
  )
}
