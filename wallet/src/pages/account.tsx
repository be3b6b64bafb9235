import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { listCredentials, listSessions, listWallets, logOut, orThrow } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useConnect, useConnection, useConnectors, useDisconnect } from 'wagmi'
import { Link } from 'wouter'
import { CURRENCIES, currencyStore, useService } from '../context.ts'
import { formatDay, numberDuplicates } from '../format.ts'
import { LinkedWallets } from '../parts/linked-wallets.tsx'
import { hasPasskeySupport, NO_PASSKEYS } from '../parts/no-passkeys.ts'
import { isPhone, NoWallet } from '../parts/no-wallet.tsx'
import { ProblemNotice, Warning } from '../parts/notices.tsx'
import { Skeleton } from '../parts/skeletons.tsx'
import { Address } from '../parts/tokens.tsx'
import { logIn, signUp } from '../passkeys.ts'
import { session } from '../service.ts'
import { useStore } from '../store.ts'
import { useKeptFocus } from '../use-kept-focus.ts'

const LINK = 'Link wallets to your account'

/** Page with the three steps to get started, then the state of the account and the preferences. */
export function AccountPage() {
  const user = useStore(session)
  const { address } = useConnection()
  return (
    <div className="page narrow">
      <title>Your account · Vaultline</title>
      <h1>Your account</h1>
      <ol className="stairs">
        <Stair title={user ? `Logged in as ${user.email}` : 'Create an account, or log in'} isDone={Boolean(user)}>
          {user ? <LogOut /> : hasPasskeySupport() ? <PasskeyForm /> : <Warning>{NO_PASSKEYS}</Warning>}
        </Stair>
        <Stair title={address ? 'Wallet connected' : 'Connect a wallet'} isDone={Boolean(address)}>
          {address ? <ConnectedWallet address={address} /> : <WalletList />}
        </Stair>
        {user ? (
          <LinkStair address={address} />
        ) : (
          <Stair title={LINK} isDone={false}>
            <p className="fine">With an account and a wallet, your portfolio shows what the wallet holds.</p>
          </Stair>
        )}
      </ol>
      {user && <Security />}
      <Preferences />
    </div>
  )
}

function Stair({ title, isDone, children }: { title: string; isDone: boolean; children: ReactNode }) {
  const heading = useKeptFocus<HTMLHeadingElement>(isDone)
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
        <Link href="/account/recovery" className="link">
          Lost your passkey?
        </Link>
      </div>
      <p className="fine">No password, and we send no e-mail. Your password manager keeps the passkey.</p>
      {error && <ProblemNotice error={error} />}
    </form>
  )
}

function LogOut() {
  const service = useService()
  const queries = useQueryClient()
  const leave = useMutation({
    mutationFn: async () => orThrow(await logOut(service, undefined)),
    // This tab forgets the session even if the API cannot be reached.
    onSettled: () => {
      session.set(undefined)
      queries.clear()
    },
  })
  return (
    <div className="row">
      <button type="button" className="button quiet" onClick={() => leave.mutate()}>
        Log out
      </button>
    </div>
  )
}

function WalletList() {
  const connectors = useConnectors()
  const connect = useConnect()
  // The connector `injected` is wagmi's fallback for window.ethereum. Today's wallets announce themselves, so the fallback is left out.
  const announced = connectors.filter(({ id }) => id !== 'injected')
  const names = numberDuplicates(announced.map(({ name }) => name))
  return (
    <>
      {announced.every(({ id }) => isPhone() && id.startsWith('local.')) && <NoWallet />}
      <ul className="wallets">
        {announced.map((connector, index) => (
          <li key={connector.uid}>
            <button
              type="button"
              className="button wallet"
              disabled={connect.isPending}
              onClick={() => connect.mutate({ connector })}
            >
              {connector.icon && <img src={connector.icon} alt="" width={28} height={28} />}
              {names[index]}
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
    <div className="row spread">
      <Address value={address} what="the wallet's address" />
      <button type="button" className="button quiet" onClick={() => disconnect.mutate()}>
        Disconnect
      </button>
    </div>
  )
}

function LinkStair({ address }: { address: string | undefined }) {
  const { data } = useQuery(query(listWallets, useService(), undefined))
  const linked = data?.wallets ?? []
  const isDone = address ? linked.some((wallet) => wallet.address === address) : linked.length > 0
  return (
    <Stair title={isDone ? 'Wallet linked to your account' : LINK} isDone={isDone}>
      <LinkedWallets address={address} />
    </Stair>
  )
}

function Security() {
  const service = useService()
  const credentials = useQuery(query(listCredentials, service, undefined))
  const sessions = useQuery(query(listSessions, service, undefined))
  const failed = [credentials, sessions].find(({ error, data }) => error && !data)
  const all = credentials.data?.credentials
  const passkeys = all?.filter(({ factor }) => factor === 'first').length
  const kit = all?.find(({ kind }) => kind === 'RecoveryKey')
  const places = sessions.data?.sessions.length
  return (
    <section className="card" aria-labelledby="security">
      <h2 id="security">Security</h2>
      <ul className="lines">
        <SecurityLine href="/account/passkeys" title="Passkeys">
          {passkeys !== undefined && countOf(passkeys, 'passkey')}
        </SecurityLine>
        <SecurityLine href="/account/recovery" title="Recovery kit">
          {all && (kit ? `Made ${formatDay(kit.createdAt)}` : <span className="chip warn">Not made yet</span>)}
        </SecurityLine>
        <SecurityLine href="/account/sessions" title="Sessions">
          {places !== undefined && countOf(places, 'session')}
        </SecurityLine>
        <SecurityLine href="/account/delete" title="Delete account">
          Cannot be undone
        </SecurityLine>
      </ul>
      {failed?.error && <ProblemNotice error={failed.error} onRetry={() => void failed.refetch()} />}
    </section>
  )
}

function SecurityLine({ href, title, children }: { href: string; title: string; children: ReactNode }) {
  return (
    <li>
      <Link href={href} className="line">
        <strong>{title}</strong>
        <span className="fine">{children || <Skeleton width="6em" />}</span>
      </Link>
    </li>
  )
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
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
