import { concat, hexToBytes } from 'viem'
import type { Config } from '../config.ts'
import type { SolanaWallet } from '../solana.ts'

/** Bytes that precede an Ed25519 private key in PKCS #8 (RFC 8410). */
const PKCS8_PREFIX = '0x302e020100300506032b657004220420'

/** Announces the sandbox's Solana wallet as a browser extension does (Wallet Standard). It holds test money, and signs without a dialog. */
export function announceLocalSolana({ sandbox }: Config): void {
  if (!sandbox) return
  const { address, privateKey } = sandbox.solanaWallet
  const account = { address, chains: ['solana:mainnet'], features: ['solana:signMessage'] }
  let isConnected = false
  const wallet: SolanaWallet = {
    name: 'Local Solana account',
    icon: ICON,
    get accounts() {
      return isConnected ? [account] : []
    },
    features: {
      'standard:connect': {
        async connect() {
          isConnected = true
          return { accounts: [account] }
        },
      },
      'solana:signMessage': {
        async signMessage({ message }) {
          const der = new Uint8Array(hexToBytes(concat([PKCS8_PREFIX, privateKey])))
          const key = await crypto.subtle.importKey('pkcs8', der, 'Ed25519', false, ['sign'])
          const signature = await crypto.subtle.sign('Ed25519', key, new Uint8Array(message))
          return [{ signedMessage: message, signature: new Uint8Array(signature) }]
        },
      },
    },
  }
  const announce = ({ register }: { register(wallet: SolanaWallet): void }) => register(wallet)
  window.addEventListener('wallet-standard:app-ready', (event) => {
    if (event instanceof CustomEvent) announce(event.detail)
  })
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: announce }))
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%235b3fb5'/%3E%3Cpath d='M10 11h14l-2 3H8zM8 18h14l2 3H10z' fill='white'/%3E%3C/svg%3E"
