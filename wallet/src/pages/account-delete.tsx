import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CallFailure, type Client, deleteUser, listSessions } from '@vaultline/client'
import { type FormEvent, useState } from 'react'
import { useService } from '../context.ts'
import { AccountSubpage, LoginRequired } from '../parts/account-subpage.tsx'
import { EmptyNotice, ProblemNotice } from '../parts/notices.tsx'
import { withFreshLogin } from '../passkeys.ts'
import { session } from '../service.ts'
import { useStore } from '../store.ts'
import { useKeptFocus } from '../use-kept-focus.ts'

/** Page that deletes the account after the user has typed its e-mail address. */
export function DeleteAccountPage() {
  const service = useService()
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: async () => {
      await withFreshLogin(service, () => deleteUser(service, undefined))
      await confirmDeleted(service)
    },
    onSuccess: () => {
      session.set(undefined)
      queries.clear()
    },
  })
  const message = useKeptFocus<HTMLDivElement>(remove.isSuccess)
  return (
    <AccountSubpage title="Delete account">
      {remove.isSuccess ? (
        <div role="status" ref={message} tabIndex={-1}>
          <EmptyNotice title="Your account is deleted" action={{ href: '/', text: 'Go home' }}>
            Also delete its passkeys from your password manager. They no longer open anything.
          </EmptyNotice>
        </div>
      ) : (
        <LoginRequired>
          <DeleteForm isBusy={remove.isPending} error={remove.error} onDelete={() => remove.mutate()} />
        </LoginRequired>
      )}
    </AccountSubpage>
  )
}

/**
 * Checks that the login session has ended, because the response of a deletion is unsigned and proves nothing. Throws if the session is
 * still valid.
 */
async function confirmDeleted(service: Client): Promise<void> {
  const sessions = await listSessions(service)
  if (sessions.ok) throw new Error('Your account is not deleted: it still has this session. Please try again.')
  if (sessions.error.code !== 'invalid_session') throw new CallFailure(sessions.error)
}

type DeleteFormProps = { readonly isBusy: boolean; readonly error: Error | null; readonly onDelete: () => void }

function DeleteForm({ isBusy, error, onDelete }: DeleteFormProps) {
  const email = useStore(session)?.email ?? ''
  const [typed, setTyped] = useState('')
  const isConfirmed = typed.trim().toLowerCase() === email.toLowerCase()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isConfirmed) onDelete()
  }
  return (
    <>
      <section className="card" aria-labelledby="deleted">
        <h2 id="deleted">We delete</h2>
        <ul className="bullets">
          <li>your e-mail address</li>
          <li>your passkeys on our side, and your recovery kit</li>
          <li>all your sessions</li>
          <li>the links to your wallets</li>
        </ul>
        <h2>We do not delete</h2>
        <ul className="bullets">
          <li>your wallets, and the tokens in them</li>
          <li>deposits in vaults: they stay yours, and your wallet can withdraw them</li>
          <li>transactions: the chains keep them</li>
        </ul>
      </section>
      <form className="card" onSubmit={submit}>
        <p>You cannot undo this.</p>
        <label className="field">
          <span className="breaks">
            To confirm, type <strong>{email}</strong>
          </span>
          <input
            type="email"
            autoComplete="off"
            required
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        </label>
        <div className="row">
          <button type="submit" className="button danger" disabled={!isConfirmed || isBusy}>
            {isBusy ? 'Deleting …' : 'Delete my account'}
          </button>
        </div>
        {error && <ProblemNotice error={error} />}
      </form>
    </>
  )
}
