import type { PublicKey } from '@vaultline/client/verify'

/** Configuration of the wallet, served as `/config.json`. */
export type Config = {
  readonly apiUrl: string
  /** API key of this wallet application; it gives access to no user's account. */
  readonly apiKey: string
  /** Public keys that sign the API's responses. The wallet sends only transactions of signed responses. */
  readonly signingKeys: readonly PublicKey[]
  readonly chains: readonly { readonly chainId: number; readonly rpcUrl: string; readonly explorerUrl: string }[]
  /** Only in the sandbox: accounts with publicly known private keys, and the URL of the sandbox's controls. */
  readonly sandbox?: {
    readonly accounts: readonly `0x${string}`[]
    /** Address of an account whose code executes a batch of calls (EIP-7702). */
    readonly smartAccount: `0x${string}`
    readonly controlsUrl: string
    /** Solana wallet with a publicly known private key. */
    readonly solanaWallet: { readonly address: string; readonly privateKey: `0x${string}` }
    /** URL that lists the webhook events received. In production, the wallet's own back end would forward such events to its users. */
    readonly receivedUrl: string
    /**
     * Account, with a label, of the prepared state that the sandbox shows in this iframe. The wallet then offers only
     * this account.
     */
    readonly shown?: { readonly name: string; readonly account: `0x${string}` }
  }
}

/** Loads the configuration from `/config.json`. Throws if the file is missing. */
export async function loadConfig(): Promise<Config> {
  const response = await fetch('/config.json')
  if (!response.ok) throw new Error(`/config.json answered ${response.status}.`)
  return response.json()
}
