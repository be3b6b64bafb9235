import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { linkWallet, listWallets, logOut, orThrow, startLinkingWallet, unlinkWallet } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useConnect, useConnection, useConnectors, useDisconnect, useSignMessage } from 'wagmi'
import { CURRENCIES, currencyStore, useService } from '../context.ts'
import { ProblemNotice } from '../parts/notices.tsx'
import { Skeleton } from '../parts/skeletons.tsx'
import { Address } from '../parts/tokens.tsx'
import { logIn, signUp, withFreshLogin } from '../passkeys.ts'
import { session } from '../service.ts'
import { useStore } from '../store.ts'
import { useFocusKept } from '../use-focus-kept.ts'

const LINK = 'Link wallets to your account'

/** The way in, in three steps, and what can be changed afterwards. */
export function AccountPage() {
  const user = useStore(session)
  const { address } = useConnection()
  return (
    <div className="page narrow">
      <title>Your account · Vaultline</title>
      <h1>Your account</h1>
      <ol className="stairs">
        <Stair title={user ? `Logged in as ${user.email}` : 'Create an account, or log in'} isDone={Boolean(user)}>
          {user ? <LogOut /> : <PasskeyForm />}
        </Stair>
        <Stair title={address ? 'Wallet connected' : 'Connect a wallet'} isDone={Boolean(address)}>
          {address ? <ConnectedWallet address={address} /> : <WalletList />}
        </Stair>
        {user && address ? (
          <LinkedWallets address={address} />
        ) : (
          <Stair title={LINK} isDone={false}>
            <p className="fine">With an account and a wallet, your portfolio shows what the wallet holds.</p>
          </Stair>
        )}
      </ol>
      <Preferences />
    </div>
  )
}

function Stair({ title, isDone, children }: { title: string; isDone: boolean; children: ReactNode }) {
  const heading = useFocusKept<HTMLHeadingElement>(isDone)
  return (
    <li className={isDone ? 'card done' : 'card'}>
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </li>
  )
}

function PasskeyForm() {
  const service = useService()
  const [email, setEmail] = useState('')
  const register = useMutation({ mutationFn: () => signUp(service, email) })
  const enter = useMutation({ mutationFn: () => logIn(service) })
  const isBusy = register.isPending || enter.isPending
  const error = register.error ?? enter.error
  const submit = (event: FormEvent) => {
    event.preventDefault()
    enter.reset()
    register.mutate()
  }
  return (
    <form onSubmit={submit}>
      <label className="field">
        E-mail address
        <input
          type="email"
          autoComplete="username webauthn"
          placeholder="you@example.com"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </label>
      <div className="row">
        <button type="submit" className="button primary" disabled={isBusy}>
          {register.isPending ? 'Confirm on your device …' : 'Sign up with a passkey'}
        </button>
        <button
          type="button"
          className="button quiet"
          disabled={isBusy}
          onClick={() => {
            register.reset()
            enter.mutate()
          }}
        >
          {enter.isPending ? 'Confirm on your device …' : 'Log in'}
        </button>
      </div>
      <p className="fine">No password, and we send no e-mail. The passkey is saved in your password manager.</p>
      {error && <ProblemNotice error={error} />}
    </form>
  )
}

function LogOut() {
  const service = useService()
  const queries = useQueryClient()
  const leave = useMutation({
    mutationFn: async () => orThrow(await logOut(service, undefined)),
    // Also where the service could not be told: this tab forgets the session.
    onSettled: () => {
      session.set(undefined)
      queries.clear()
    },
  })
  return (
    <button type="button" className="button quiet" onClick={() => leave.mutate()}>
      Log out
    </button>
  )
}

function WalletList() {
  const connectors = useConnectors()
  const connect = useConnect()
  // wagmi's own entry for whatever calls itself window.ethereum; wallets announce themselves today.
  const announced = connectors.filter(({ id }) => id !== 'injected')
  return (
    <>
      {announced.length === 0 && <p>No wallet is installed in this browser. Install one, then come back.</p>}
      <ul className="wallets">
        {announced.map((connector) => (
          <li key={connector.uid}>
            <button
              type="button"
              className="button wallet"
              disabled={connect.isPending}
              onClick={() => connect.mutate({ connector })}
            >
              {connector.icon && <img src={connector.icon} alt="" width={28} height={28} />}
              {connector.name}
            </button>
          </li>
        ))}
      </ul>
      {import.meta.env.MODE === 'sandbox' && (
        <p className="fine">Local accounts hold test money on the chains of this machine, and sign without asking.</p>
      )}
      {connect.error && <ProblemNotice error={connect.error} />}
    </>
  )
}

function ConnectedWallet({ address }: { address: string }) {
  const disconnect = useDisconnect()
  return (
    <div className="row">
      <Address value={address} what="the wallet's address" />
      <button type="button" className="button quiet" onClick={() => disconnect.mutate()}>
        Disconnect
      </button>
    </div>
  )
}

/** The last step, done where the wallet is linked. */
function LinkedWallets({ address }: { address: string }) {
  const service = useService()
  const queries = useQueryClient()
  const { mutateAsync: sign } = useSignMessage()
  const wallets = useQuery(query(listWallets, service, undefined))
  const link = useMutation({
    mutationFn: async () => {
      const start = () => startLinkingWallet(service, { address, chain: 'evm' })
      const { message } = await withFreshLogin(service, start)
      orThrow(await linkWallet(service, { message, signature: await sign({ message }) }))
    },
    // Balances are of the wallets that are linked.
    onSuccess: () => queries.invalidateQueries(),
  })
  const unlink = useMutation({
    mutationFn: async (linked: string) => orThrow(await unlinkWallet(service, { address: linked })),
    onSuccess: () => queries.invalidateQueries(),
  })
  const list = useFocusKept<HTMLUListElement>(wallets.data?.wallets.length)
  if (!wallets.data) {
    return (
      <Stair title={LINK} isDone={false}>
        {wallets.error ? (
          <ProblemNotice error={wallets.error} onRetry={() => void wallets.refetch()} />
        ) : (
          <Skeleton width="12em" />
        )}
      </Stair>
    )
  }
  const linked = wallets.data.wallets
  const isLinked = linked.some((wallet) => wallet.address === address)
  const error = link.error ?? unlink.error
  return (
    <Stair title={isLinked ? 'Wallet linked to your account' : LINK} isDone={isLinked}>
      <ul className="plain" ref={list} tabIndex={-1} aria-label="Linked wallets">
        {linked.map((wallet) => (
          <li key={wallet.address} className="row">
            <Address value={wallet.address} what="the linked wallet's address" />
            <button type="button" className="button quiet" onClick={() => unlink.mutate(wallet.address)}>
              Unlink
            </button>
          </li>
        ))}
      </ul>
      {!isLinked && (
        <>
          <button type="button" className="button primary" disabled={link.isPending} onClick={() => link.mutate()}>
            {link.isPending ? 'Sign in your wallet …' : 'Link this wallet'}
          </button>
          <p className="fine">You sign a message to prove that the wallet is yours. It is free and moves no money.</p>
        </>
      )}
      {error && <ProblemNotice error={error} />}
    </Stair>
  )
}

function Preferences() {
  const currency = useStore(currencyStore)
  return (
    <section className="card">
      <h2>Preferences</h2>
      <label className="field">
        Show values in
        <select
          value={currency}
          onChange={({ target }) => currencyStore.set(CURRENCIES.find((one) => one === target.value) ?? 'usd')}
        >
          {CURRENCIES.map((one) => (
            <option key={one} value={one}>
              {one.toUpperCase()}
            </option>
          ))}
        </select>
      </label>
    </section>
  )
}
