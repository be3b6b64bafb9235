import { lazy, Suspense, useEffect, useRef } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { AccountMenu } from './parts/account-menu.tsx'
import { DeveloperDrawer } from './parts/developer-drawer.tsx'
import { ErrorBoundary } from './parts/error-boundary.tsx'
import { EmptyNotice } from './parts/notices.tsx'
import { PageSkeleton } from './parts/skeletons.tsx'
import { useRefetchOnEvents } from './use-events.ts'

const HomePage = lazy(async () => ({ default: (await import('./pages/home.tsx')).HomePage }))
const VaultsPage = lazy(async () => ({ default: (await import('./pages/vaults.tsx')).VaultsPage }))
const VaultPage = lazy(async () => ({ default: (await import('./pages/vault.tsx')).VaultPage }))
const TransferPage = lazy(async () => ({ default: (await import('./pages/transfer.tsx')).TransferPage }))
const ActivityPage = lazy(async () => ({ default: (await import('./pages/activity.tsx')).ActivityPage }))
const MarketsPage = lazy(async () => ({ default: (await import('./pages/markets.tsx')).MarketsPage }))
const CoinPage = lazy(async () => ({ default: (await import('./pages/coin.tsx')).CoinPage }))
const AccountPage = lazy(async () => ({ default: (await import('./pages/account.tsx')).AccountPage }))
const PasskeysPage = lazy(async () => ({ default: (await import('./pages/account-passkeys.tsx')).PasskeysPage }))
const SessionsPage = lazy(async () => ({ default: (await import('./pages/account-sessions.tsx')).SessionsPage }))
const RecoveryPage = lazy(async () => ({ default: (await import('./pages/account-recovery.tsx')).RecoveryPage }))
const DeleteAccountPage = lazy(async () => ({
  default: (await import('./pages/account-delete.tsx')).DeleteAccountPage,
}))

const PLACES = [
  { href: '/', name: 'Home', icon: 'M3 11 12 4l9 7v9h-6v-6H9v6H3z' },
  { href: '/vaults', name: 'Earn', icon: 'M4 5h16v14H4zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM4 8H2m2 8H2' },
  { href: '/activity', name: 'Activity', icon: 'M4 6h16M4 12h16M4 18h10' },
  { href: '/markets', name: 'Markets', icon: 'M3 17l6-6 4 4 8-9' },
] as const

/** Renders the wallet's header and navigation, and the page for the URL. */
export function App() {
  const [location] = useLocation()
  useRefetchOnEvents()
  const main = useRef<HTMLElement>(null)
  const shown = useRef(location)
  useEffect(() => {
    if (shown.current === location) return
    shown.current = location
    // After a change of page the main element takes the focus. The browser's own scrolling would hide its beginning under the sticky
    // header, so the page scrolls to the top.
    main.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [location])
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="top">
        <Link href="/" className="brand">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <path d="M4 6h24v6L16 28 4 12z" fill="currentColor" />
          </svg>
          Vaultline
        </Link>
        <nav className="places" aria-label="Pages">
          {PLACES.map(({ href, name, icon }) => (
            <Link key={href} href={href} aria-current={isAt(location, href) ? 'page' : undefined}>
              <svg viewBox="0 0 24 24" aria-hidden="true">
                <path d={icon} />
              </svg>
              {name}
            </Link>
          ))}
        </nav>
        <AccountMenu />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <ErrorBoundary key={location}>
          <Suspense fallback={<PageSkeleton />}>
            <Switch>
              <Route path="/" component={HomePage} />
              <Route path="/vaults" component={VaultsPage} />
              <Route path="/vaults/:chainId/:address">
                {({ chainId, address }) => (
                  <VaultPage key={`${chainId} ${address}`} chainId={Number(chainId)} address={address} />
                )}
              </Route>
              <Route path="/transfers/:chainId/:hash">
                {({ chainId, hash }) => (
                  <TransferPage key={`${chainId} ${hash}`} chainId={Number(chainId)} hash={hash} />
                )}
              </Route>
              <Route path="/activity" component={ActivityPage} />
              <Route path="/markets" component={MarketsPage} />
              <Route path="/markets/:id">{({ id }) => <CoinPage key={id} id={id} />}</Route>
              <Route path="/account" component={AccountPage} />
              <Route path="/account/passkeys" component={PasskeysPage} />
              <Route path="/account/sessions" component={SessionsPage} />
              <Route path="/account/recovery" component={RecoveryPage} />
              <Route path="/account/delete" component={DeleteAccountPage} />
              <Route>
                <div className="page">
                  <title>Page not found · Vaultline</title>
                  <EmptyNotice isWholePage title="Page not found" action={{ href: '/', text: 'Go home' }} />
                </div>
              </Route>
            </Switch>
          </Suspense>
        </ErrorBoundary>
      </main>
      <DeveloperDrawer />
    </>
  )
}

function isAt(location: string, href: string): boolean {
  return href === '/' ? location === '/' : location.startsWith(href)
}
