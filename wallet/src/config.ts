import type { PublicKey } from '@vaultline/client/verify'

/** Configuration of the wallet, served as `/config.json`. */
export type Config = {
  /** The URL of the service. */
  readonly apiUrl: string
  /** The key of this wallet; it opens no account. */
  readonly apiKey: string
  /** The keys that sign the responses. The wallet sends only transactions of signed responses. */
  readonly signingKeys: readonly PublicKey[]
  /** The chains that the wallet sends to, where it reads them, and their block explorers. */
  readonly chains: readonly { readonly chainId: number; readonly rpcUrl: string; readonly explorerUrl: string }[]
  /** Only in the sandbox: accounts whose private keys are public, and the URL of the controls. */
  readonly sandbox?: {
    readonly accounts: readonly `0x${string}`[]
    /** An account with code that executes a batch of calls (EIP-7702). */
    readonly smartAccount: `0x${string}`
    readonly controlsUrl: string
    /** A Solana wallet whose private key is public. */
    readonly solanaWallet: { readonly address: string; readonly privateKey: `0x${string}` }
    /** The received webhooks. In production, the wallet's own back end reports them to its users. */
    readonly receivedUrl: string
    /** The one account to use in a frame that shows a prepared state. */
    readonly shown?: { readonly name: string; readonly account: `0x${string}` }
  }
}

/** Loads the configuration; throws where it is not there. */
export async function loadConfig(): Promise<Config> {
  const response = await fetch('/config.json')
  if (!response.ok) throw new Error(`/config.json answered ${response.status}.`)
  return response.json()
}
