import type { Address } from 'viem'
import type { PublicKey } from '../lib/signing/public-key.ts'

/** Public key as `add-signing-key` prints it and `/.well-known/jwks.json` publishes it. */
type SigningKey = Pick<PublicKey, 'kty' | 'crv' | 'x' | 'kid'>

/** Settings that the demo wallet reads at `/config.json`; a deployed wallet has no `sandbox`. */
export type WalletConfig = {
  readonly apiUrl: string
  readonly apiKey: string
  /** Public keys of the stage's signatures. The wallet sends only transactions that are signed with one of them. */
  readonly signingKeys: readonly SigningKey[]
  readonly chains: readonly {
    readonly chainId: number
    readonly rpcUrl: string
    /** Base URL of a block explorer without a trailing slash. It has the paths `/tx/<hash>` and `/address/<address>`. */
    readonly explorerUrl: string
  }[]
  readonly sandbox?: {
    readonly accounts: readonly Address[]
    readonly controlsUrl: string
    /**
     * URL that lists the webhook events that the sandbox received for the wallet. In production, the wallet's own back
     * end receives such events.
     */
    readonly receivedUrl: string
  }
}

/**
 * Returns the `Content-Security-Policy` header of the wallet's pages. The pages load only files of their own origin, and call only the API
 * and the chains' nodes. Only the sandbox's control page may show the wallet in a frame. `apiUrl` has no path.
 */
export function buildWalletCsp({ apiUrl, chains, sandbox }: WalletConfig): string {
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
