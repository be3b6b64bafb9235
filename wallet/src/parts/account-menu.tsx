import { useConnection } from 'wagmi'
import { Link } from 'wouter'
import { shorten } from '../format.ts'
import { session } from '../service.ts'
import { useStore } from '../store.ts'

/** Shows a link to the logged-in user's account, or else to the login. */
export function AccountMenu() {
  const user = useStore(session)
  const { address } = useConnection()
  const name = address ? shorten(address) : user?.email
  return (
    <Link href="/account" className={name ? 'account-menu' : 'account-menu button'}>
      {name && <span className="dot" aria-hidden="true" />}
      <span className="account-name">{name ?? 'Get started'}</span>
    </Link>
  )
}
