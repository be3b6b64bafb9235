import type { SolanaWallet } from './solana.ts'
import { createStore } from './store.ts'

type AnyWallet = { readonly features: object }
type Registry = { register(...wallets: readonly AnyWallet[]): () => void }

/** Solana wallets in this browser that have announced themselves. */
export const solanaWallets = createStore<readonly SolanaWallet[]>([])

/** Function that wallets call to announce themselves, immediately or when they load later. */
function register(...wallets: readonly AnyWallet[]): () => void {
  const added = wallets.filter(signsMessages)
  solanaWallets.set([...new Set([...solanaWallets.get(), ...added])])
  return () => solanaWallets.set(solanaWallets.get().filter((wallet) => !added.includes(wallet)))
}

function signsMessages(wallet: AnyWallet): wallet is SolanaWallet {
  return 'standard:connect' in wallet.features && 'solana:signMessage' in wallet.features
}

const registry: Registry = { register }
window.addEventListener('wallet-standard:register-wallet', (event) => {
  // The event's `detail` is a callback of the wallet (Wallet Standard). Each wallet brings its own class of event, so
  // the type is checked here.
  if ('detail' in event && typeof event.detail === 'function') event.detail(registry)
})
window.dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: registry }))
