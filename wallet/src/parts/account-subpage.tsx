import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { session } from '../service.ts'
import { useStore } from '../store.ts'
import { EmptyNotice } from './notices.tsx'

/** Layout of a page under the account: its heading and a link back. */
export function AccountSubpage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="page narrow">
      <title>{`${title} · Vaultline`}</title>
      <p className="back">
        <Link href="/account" className="link">
          ← Your account
        </Link>
      </p>
      <h1>{title}</h1>
      {children}
    </div>
  )
}

/** Renders the children for a logged-in user; else a link to the login, also if the session ends on the page. */
export function LoginRequired({ children }: { children: ReactNode }) {
  const user = useStore(session)
  if (user) return children
  return (
    <div role="status">
      <EmptyNotice title="You are not logged in" action={{ href: '/account', text: 'Log in' }}>
        Your session has ended, or you have not logged in yet.
      </EmptyNotice>
    </div>
  )
}
