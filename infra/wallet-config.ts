import type { Address } from 'viem'
import type { PublicKey } from '../lib/signing/public-key.ts'

/** A public key as `add-signing-key` prints it and `/.well-known/jwks.json` publishes it. */
type SigningKey = Pick<PublicKey, 'kty' | 'crv' | 'x' | 'kid'>

/** What the demo wallet reads at `/config.json`; a deployed one has no `sandbox`. */
export type WalletConfig = {
  readonly apiUrl: string
  readonly apiKey: string
  /** The public keys of the stage's signatures: the wallet sends nothing that they have not signed. */
  readonly signingKeys: readonly SigningKey[]
  readonly chains: readonly {
    readonly chainId: number
    readonly rpcUrl: string
    /** The chain's block explorer, without a slash at the end: it has `/tx/<hash>` and `/address/<address>`. */
    readonly explorerUrl: string
  }[]
  readonly sandbox?: {
    readonly accounts: readonly Address[]
    readonly controlsUrl: string
    /** What the webhook of the wallet's client has received; in the place of a back end of the wallet's own. */
    readonly receivedUrl: string
  }
}

/**
 * The `Content-Security-Policy` of the wallet's pages: they run and show what is theirs, and talk to the API and the
 * chains alone. Only the control room of the sandbox shows them in a frame. `apiUrl` has no path.
 */
export function walletPolicy({ apiUrl, chains, sandbox }: WalletConfig): string {
  const rpcOrigins = chains.map(({ rpcUrl }) => new URL(rpcUrl).origin)
  return [
    "default-src 'self'",
    `connect-src 'self' ${[apiUrl, ...rpcOrigins].join(' ')}`,
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${sandbox ? "'self'" : "'none'"}`,
  ].join('; ')
}
