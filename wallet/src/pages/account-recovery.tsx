import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { listCredentials } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { useService } from '../context.ts'
import { formatDateTime } from '../format.ts'
import { formatKit, parseKit, type RecoveryKit } from '../kit-text.ts'
import { AccountSubpage } from '../parts/account-subpage.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { ProblemNotice, Warning } from '../parts/notices.tsx'
import { Skeleton } from '../parts/skeletons.tsx'
import { confirmChange, logIn } from '../passkeys.ts'
import { type NewKit, type Recovered, recoverAccount, replaceKit } from '../recovery-kit.ts'
import { session } from '../service.ts'
import { useStore } from '../store.ts'
import { useKeptFocus } from '../use-kept-focus.ts'

/** Page on which a logged-in user makes a recovery kit, and anyone else recovers an account with a kit. */
export function RecoveryPage() {
  const user = useStore(session)
  return user ? (
    <AccountSubpage title="Recovery kit">
      <p className="lead">
        The kit opens your account if you lose every passkey. Without it, nobody can open the account again: we cannot
        reset it.
      </p>
      <MakeKit />
    </AccountSubpage>
  ) : (
    <AccountSubpage title="Lost your passkey?">
      <p className="lead">
        Use your recovery kit. You get a new passkey and a new kit. Your old passkeys and sessions end; your linked
        wallets stay.
      </p>
      <UseKit />
    </AccountSubpage>
  )
}

function MakeKit() {
  const service = useService()
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(query(listCredentials, service, undefined))
  // The new kit is kept in this state, so it stays visible if a second attempt fails.
  const [newKit, setNewKit] = useState<NewKit>()
  // `gcTime: 0` removes the kit from the cache once the user leaves the page.
  const make = useMutation({
    mutationFn: async () => replaceKit(service, await confirmChange(service)),
    onSuccess: (next) => {
      setNewKit(next)
      return queries.invalidateQueries()
    },
    gcTime: 0,
  })
  const heading = useKeptFocus<HTMLHeadingElement>(newKit)
  if (newKit) {
    const { kit, isConfirmed } = newKit
    const finish = () => {
      setNewKit(undefined)
      make.reset()
    }
    const again = make.isPending ? 'Confirm on your device …' : 'Make the kit again'
    const done = isConfirmed ? { text: 'Done', onDone: finish } : { text: again, onDone: () => make.mutate() }
    return (
      <ShownKit key={kit.keyId} kit={kit} done={{ ...done, isBusy: make.isPending, error: make.error }}>
        {!isConfirmed && (
          <Warning>
            We could not confirm this kit. Save it. It may already be the valid one: keep the old kit too. Then make the
            kit again to be sure.
          </Warning>
        )}
      </ShownKit>
    )
  }
  const kit = data?.credentials.find(({ kind }) => kind === 'RecoveryKey')
  return (
    <section className="card" aria-labelledby="kit">
      <h2 id="kit" ref={heading} tabIndex={-1}>
        {!data && !error ? <Skeleton width="12em" /> : kit ? 'You have a kit' : 'You have no kit yet'}
      </h2>
      {kit && (
        <p>
          Made {formatDateTime(kit.createdAt)}. If you have lost it, make a new one. The old one then stops working.
        </p>
      )}
      {data && !kit && <p>It takes a minute. Keep it where you would keep a spare key.</p>}
      {error && !data && <ProblemNotice error={error} onRetry={() => void refetch()} />}
      {data && (
        <div className="row">
          <button type="button" className="button primary" disabled={make.isPending} onClick={() => make.mutate()}>
            {make.isPending ? 'Confirm on your device …' : kit ? 'Replace the kit' : 'Make a recovery kit'}
          </button>
        </div>
      )}
      {make.error && <ProblemNotice error={make.error} />}
    </section>
  )
}

type Done = { readonly text: string; readonly onDone: () => void; readonly isBusy?: boolean; readonly error?: unknown }

type ShownKitProps = {
  readonly kit: RecoveryKit
  readonly done: Done
  /** Second button, beside the button that continues. */
  readonly other?: ReactNode
  readonly children: ReactNode
}

function ShownKit({ kit, done, other, children }: ShownKitProps) {
  const [isSaved, setSaved] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <section className="card" aria-labelledby="new-kit">
      <h2 id="new-kit" ref={heading} tabIndex={-1}>
        Save your new recovery kit
      </h2>
      {children}
      <p>We show it only once. Anyone who has it can take over your account.</p>
      <pre className="kit">{formatKit(kit)}</pre>
      <div className="row">
        <button type="button" className="button quiet" onClick={() => download(kit)}>
          Download
        </button>
        <CopyButton text={formatKit(kit)} what="the recovery kit" />
      </div>
      <label className="row">
        <input type="checkbox" checked={isSaved} onChange={({ target }) => setSaved(target.checked)} />I have saved the
        kit
      </label>
      <div className="row">
        <button type="button" className="button primary" disabled={!isSaved || done.isBusy} onClick={done.onDone}>
          {done.text}
        </button>
        {other}
      </div>
      {done.error ? <ProblemNotice error={done.error} /> : null}
    </section>
  )
}

function UseKit() {
  const service = useService()
  const [, navigate] = useLocation()
  const [email, setEmail] = useState('')
  const [text, setText] = useState('')
  const kit = parseKit(text)
  // The result of the recovery is kept in this state, so it stays visible if a second attempt fails.
  const [recovered, setRecovered] = useState<Recovered>()
  const recover = useMutation({
    mutationFn: (used: RecoveryKit) => recoverAccount(service, used),
    onSuccess: (next) => {
      setRecovered(next)
      // The recovery succeeded, so the used kit is no longer valid and its text is removed.
      if (next.isConfirmed) setText('')
    },
    gcTime: 0,
  })
  const enter = useMutation({
    // The login names the new passkey, because the device may still offer the old passkeys.
    mutationFn: ({ kit, passkey }: Recovered) => logIn(service, kit.email, passkey),
    onSuccess: () => navigate('/account'),
  })
  if (recovered) {
    const { kit: next, isConfirmed } = recovered
    const isBusy = enter.isPending || recover.isPending
    const text = enter.isPending ? 'Confirm on your device …' : 'Log in with the new passkey'
    const onDone = () => {
      recover.reset()
      enter.mutate(recovered)
    }
    const onAgain = () => {
      enter.reset()
      if (kit) recover.mutate({ ...kit, email })
    }
    return (
      <ShownKit
        key={next.keyId}
        kit={next}
        done={{ text, onDone, isBusy, error: enter.error ?? recover.error }}
        other={
          !isConfirmed && (
            <button type="button" className="button quiet" disabled={isBusy} onClick={onAgain}>
              {recover.isPending ? 'Confirm on your device …' : 'Recover again with the old kit'}
            </button>
          )
        }
      >
        {!isConfirmed && (
          <Warning>
            We could not confirm the recovery. Your new passkey may already work: log in with it. Save this kit, and
            keep the old one too until you are logged in.
          </Warning>
        )}
      </ShownKit>
    )
  }
  const read = (value: string) => {
    setText(value)
    setEmail((typed) => typed || (parseKit(value)?.email ?? ''))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (kit) recover.mutate({ ...kit, email })
  }
  return (
    <form className="card" onSubmit={submit}>
      <label className="field">
        Recovery kit
        <textarea
          rows={7}
          required
          spellCheck={false}
          autoComplete="off"
          placeholder={'Key id: …\nSecret: D1-…'}
          value={text}
          onChange={({ target }) => read(target.value)}
        />
      </label>
      <label className="field">
        Or choose the kit’s file
        <input
          type="file"
          accept="text/plain"
          onChange={async ({ target }) => read((await target.files?.[0]?.text()) ?? '')}
        />
      </label>
      <label className="field">
        E-mail address
        <input
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={({ target }) => setEmail(target.value)}
        />
      </label>
      <p className={text.trim() && !kit ? 'fine' : 'hidden'} role="status">
        {text.trim() && !kit && 'This text has no whole kit. It needs the key id and the secret, which begins with D1.'}
      </p>
      <div className="row">
        <button type="submit" className="button primary" disabled={!kit || recover.isPending}>
          {recover.isPending ? 'Confirm on your device …' : 'Recover with a new passkey'}
        </button>
      </div>
      {recover.error && <ProblemNotice error={recover.error} />}
      <p className="fine">No kit? Then a passkey on another device or a security key is the only way in.</p>
    </form>
  )
}

/** Saves the recovery kit as a file. It uses a blob URL, because a data URL would leave the secret in the browser's list of downloads. */
function download(kit: RecoveryKit): void {
  const href = URL.createObjectURL(new Blob([formatKit(kit)], { type: 'text/plain' }))
  Object.assign(document.createElement('a'), { href, download: 'vaultline-recovery-kit.txt' }).click()
  URL.revokeObjectURL(href)
}
