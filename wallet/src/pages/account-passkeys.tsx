import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type Credential, listCredentials, removeCredential } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { type FormEvent, useState } from 'react'
import { useService } from '../context.ts'
import { formatDateTime } from '../format.ts'
import { AccountSubpage, LoginRequired } from '../parts/account-subpage.tsx'
import { ProblemNotice } from '../parts/notices.tsx'
import { SkeletonRows } from '../parts/skeletons.tsx'
import { addPasskey, confirmChange, describeDevice, withFreshLogin } from '../passkeys.ts'
import { session } from '../service.ts'
import { useStore } from '../store.ts'
import { useKeptFocus } from '../use-kept-focus.ts'

const KINDS: Readonly<Record<Credential['kind'], string>> = {
  Fido2: 'Passkey',
  Key: 'Key in a browser',
  PasswordProtectedKey: 'Key with a password',
  Password: 'Password',
  Totp: 'One-time codes',
  RecoveryKey: 'Recovery kit',
}

/** Maximum number of credentials that the API accepts for one account, the recovery kit included. */
const MAX_CREDENTIALS = 8

/** Page that lists the account's passkeys. The user can add and remove passkeys. */
export function PasskeysPage() {
  return (
    <AccountSubpage title="Passkeys">
      <p className="lead">
        A passkey logs you in. Your password manager keeps it, and may sync it to your other devices. A second one on
        another device or a security key lets you in if you lose the first.
      </p>
      <LoginRequired>
        <Passkeys />
      </LoginRequired>
    </AccountSubpage>
  )
}

function Passkeys() {
  const service = useService()
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(query(listCredentials, service, undefined))
  const [said, setSaid] = useState('')
  const remove = useMutation({
    mutationFn: ({ id }: Credential) => withFreshLogin(service, () => removeCredential(service, { id })),
    onSuccess: async (_, credential) => {
      await queries.invalidateQueries()
      setSaid(`${titleOf(credential)} is removed. Delete it from your password manager too.`)
    },
  })
  const list = useKeptFocus<HTMLUListElement>(data?.credentials.length)
  const shown = data?.credentials.filter(({ factor }) => factor !== 'recovery')
  const isOnlyOne = shown?.filter(({ factor }) => factor === 'first').length === 1
  return (
    <>
      <section className="card" aria-label="Your passkeys">
        {shown && (
          <ul className="lines" ref={list} tabIndex={-1} aria-label="Passkeys">
            {shown.map((credential) => (
              <CredentialRow
                key={credential.id}
                credential={credential}
                isOnlyOne={isOnlyOne && credential.factor === 'first'}
                isBusy={remove.isPending}
                onRemove={() => remove.mutate(credential)}
              />
            ))}
          </ul>
        )}
        {!data && !error && <SkeletonRows count={2} />}
        {error && !data && <ProblemNotice error={error} onRetry={() => void refetch()} />}
        {remove.error && <ProblemNotice error={remove.error} />}
        <p className={said ? 'fine' : 'hidden'} role="status">
          {said}
        </p>
      </section>
      {data && (
        <AddPasskey
          isFull={data.credentials.length >= MAX_CREDENTIALS}
          onAdded={(name) => {
            remove.reset()
            setSaid(`${name} is added. You can log in with it now.`)
          }}
        />
      )}
    </>
  )
}

type CredentialRowProps = {
  readonly credential: Credential
  readonly isOnlyOne: boolean
  readonly isBusy: boolean
  readonly onRemove: () => void
}

function CredentialRow({ credential, isOnlyOne, isBusy, onRemove }: CredentialRowProps) {
  const [isConfirming, setConfirming] = useState(false)
  const question = useKeptFocus<HTMLDivElement>(isConfirming)
  const { kind, createdAt, lastUsedAt, credentialId, backedUp } = credential
  const isThisOne = credentialId !== null && credentialId === useStore(session)?.passkey
  const title = titleOf(credential)
  return (
    <li className="line wraps">
      <span>
        <span className="row">
          <strong>{title}</strong> {isThisOne && <span className="chip good">You logged in with it</span>}
        </span>
        <span className="fine">
          {KINDS[kind]}
          {backedUp !== undefined && (backedUp ? ', synced by your password manager' : ', not backed up')}
        </span>
        <span className="fine">
          Added {formatDateTime(createdAt)}
          {lastUsedAt && <>. Last used {formatDateTime(lastUsedAt)}</>}
        </span>
        {isOnlyOne && <span className="fine">It is your only passkey. Add another before you remove it.</span>}
      </span>
      {!isOnlyOne && (
        <div className="row" ref={question} tabIndex={-1}>
          {isConfirming ? (
            <>
              <button type="button" className="button danger" onClick={onRemove} disabled={isBusy}>
                {isBusy ? 'Removing …' : `Remove ${title}`}
              </button>
              <button type="button" className="button quiet" onClick={() => setConfirming(false)} disabled={isBusy}>
                Keep
              </button>
            </>
          ) : (
            <button
              type="button"
              className="button quiet"
              aria-label={`Remove ${title}`}
              onClick={() => setConfirming(true)}
              disabled={isBusy}
            >
              Remove
            </button>
          )}
        </div>
      )}
    </li>
  )
}

/** Adds a passkey in two steps, since the browser opens two dialogs: to confirm with an existing passkey, and to create the new one. */
function AddPasskey({ isFull, onAdded }: { isFull: boolean; onAdded: (name: string) => void }) {
  const service = useService()
  const queries = useQueryClient()
  const [name, setName] = useState(describeDevice)
  const confirm = useMutation({ mutationFn: () => confirmChange(service) })
  const { data: change, reset } = confirm
  const add = useMutation({
    mutationFn: async () => change && addPasskey(service, change, name.trim()),
    onSuccess: async () => {
      await queries.invalidateQueries()
      onAdded(name.trim())
      reset()
    },
  })
  const heading = useKeptFocus<HTMLHeadingElement>(change)
  const error = confirm.error ?? add.error
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  return (
    <section className="card" aria-labelledby="add">
      <h2 id="add" ref={heading} tabIndex={-1}>
        {change ? 'Create the new passkey' : 'Add a passkey'}
      </h2>
      {isFull && <p>Your account has {MAX_CREDENTIALS} ways in, the recovery kit included. Remove one first.</p>}
      {!isFull && !change && (
        <>
          <p className="fine">First you confirm with a passkey that you have. Then you create the new one.</p>
          <div className="row">
            <button
              type="button"
              className="button primary"
              disabled={confirm.isPending}
              onClick={() => {
                add.reset()
                confirm.mutate()
              }}
            >
              {confirm.isPending ? 'Confirm on your device …' : 'Add a passkey'}
            </button>
          </div>
        </>
      )}
      {change && (
        <form onSubmit={submit}>
          <label className="field">
            Name
            <input required maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />
          </label>
          <div className="row">
            <button type="submit" className="button primary" disabled={add.isPending}>
              {add.isPending ? 'Confirm on your device …' : 'Create passkey'}
            </button>
            <button type="button" className="button quiet" disabled={add.isPending} onClick={reset}>
              Cancel
            </button>
          </div>
        </form>
      )}
      {error && <ProblemNotice error={error} />}
    </section>
  )
}

function titleOf({ name, kind }: Credential): string {
  return name ?? KINDS[kind]
}
