/** Wallet apps for phones that can open a page in their own browser, each with the link that opens the page there. */
const APPS: readonly { readonly name: string; readonly linkTo: (page: URL) => string }[] = [
  { name: 'MetaMask', linkTo: ({ host, pathname }) => `https://link.metamask.io/dapp/${host}${pathname}` },
  { name: 'Base app', linkTo: ({ href }) => `cbwallet://miniapp?url=${encodeURIComponent(href)}` },
]

/**
 * Helps a user whose browser has no wallet to get one. WalletConnect is not offered: it needs a project id and 200 kB of code, and its host
 * sees every connection.
 */
export function NoWallet() {
  if (!isPhone()) return <p>No wallet is installed in this browser. Install a wallet extension, then come back.</p>
  const page = new URL(window.location.href)
  return (
    <>
      <p>Open this page in your wallet app’s browser. You can deposit there without an account.</p>
      <p className="row">
        {APPS.map(({ name, linkTo }) => (
          <a key={name} className="button quiet" href={linkTo(page)}>
            Open in {name}
          </a>
        ))}
      </p>
    </>
  )
}

/** Returns true on phones, whose browsers have no extensions. */
export function isPhone(): boolean {
  return /Android|iPhone|iPad|Mobile/.test(navigator.userAgent)
}
