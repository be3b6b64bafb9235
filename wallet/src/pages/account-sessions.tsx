import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { endOtherSessions, endSession, type ListSessionsResponse, listSessions } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { useState } from 'react'
import { useService } from '../context.ts'
import { formatDateTime, formatDay } from '../format.ts'
import { AccountSubpage, LoginRequired } from '../parts/account-subpage.tsx'
import { ProblemNotice } from '../parts/notices.tsx'
import { SkeletonRows } from '../parts/skeletons.tsx'
import { withFreshLogin } from '../passkeys.ts'
import { useKeptFocus } from '../use-kept-focus.ts'

type Session = ListSessionsResponse['sessions'][number]

const PLATFORMS = { web: 'Web browser', ios: 'iPhone or iPad', android: 'Android device' } as const

/** Page that lists the user's login sessions. The user can end each of them. */
export function SessionsPage() {
  return (
    <AccountSubpage title="Sessions">
      <p className="lead">
        Each login starts a session. End those that you do not know, and remove passkeys that are not yours.
      </p>
      <LoginRequired>
        <Sessions />
      </LoginRequired>
    </AccountSubpage>
  )
}

function Sessions() {
  const service = useService()
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(query(listSessions, service, undefined))
  const [said, setSaid] = useState('')
  const end = useMutation({
    mutationFn: ({ id }: Session) => withFreshLogin(service, () => endSession(service, { id })),
    onSuccess: async (_, ended) => {
      await queries.invalidateQueries()
      setSaid(`${titleOf(ended)} is logged out.`)
    },
  })
  const endOthers = useMutation({
    mutationFn: () => withFreshLogin(service, () => endOtherSessions(service, undefined)),
    onSuccess: async () => {
      await queries.invalidateQueries()
      setSaid('All other sessions are ended.')
    },
  })
  const list = useKeptFocus<HTMLUListElement>(data?.sessions.length)
  const isBusy = end.isPending || endOthers.isPending
  const problem = end.error ?? endOthers.error
  const hasOthers = data?.sessions.some(({ isCurrent }) => !isCurrent)
  return (
    <section className="card" aria-label="Your sessions">
      {data && (
        <ul className="lines" ref={list} tabIndex={-1} aria-label="Sessions">
          {data.sessions.map((session) => (
            <li key={session.id} className="line wraps">
              <span>
                <span className="row">
                  <strong>{titleOf(session)}</strong>{' '}
                  {session.isCurrent && <span className="chip good">This session</span>}
                </span>
                <span className="fine">
                  Logged in {formatDateTime(session.createdAt)}. Ends {formatDay(session.expiresAt)}
                </span>
              </span>
              {!session.isCurrent && (
                <button
                  type="button"
                  className="button quiet"
                  aria-label={`End session of ${formatDateTime(session.createdAt)}, ${titleOf(session)}`}
                  disabled={isBusy}
                  onClick={() => {
                    endOthers.reset()
                    end.mutate(session)
                  }}
                >
                  End session
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {!data && !error && <SkeletonRows count={2} />}
      {error && !data && <ProblemNotice error={error} onRetry={() => void refetch()} />}
      {problem && <ProblemNotice error={problem} />}
      <p className={said ? 'fine' : 'hidden'} role="status">
        {said}
      </p>
      {hasOthers && (
        <div className="row">
          <button
            type="button"
            className="button primary"
            disabled={isBusy}
            onClick={() => {
              end.reset()
              endOthers.mutate()
            }}
          >
            End all other sessions
          </button>
        </div>
      )}
      {data && !hasOthers && <p className="fine">There is no other session.</p>}
    </section>
  )
}

function titleOf({ platform }: Session): string {
  return platform ? PLATFORMS[platform] : 'Unknown device'
}
