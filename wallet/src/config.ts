import type { PublicKey } from '@vaultline/client/verify'

/** Configuration of the wallet, served as `/config.json`. */
export type Config = {
  readonly apiUrl: string
  /** API key of this wallet; it opens no account. */
  readonly apiKey: string
  /** Keys that sign the responses. The wallet sends only transactions of signed responses. */
  readonly signingKeys: readonly PublicKey[]
  /** Chains that the wallet uses, with their nodes and block explorers. */
  readonly chains: readonly { readonly chainId: number; readonly rpcUrl: string; readonly explorerUrl: string }[]
  /** Only in the sandbox: accounts whose private keys are public, and the URL of the controls. */
  readonly sandbox?: {
    readonly accounts: readonly `0x${string}`[]
    /** Account with code that executes a batch of calls (EIP-7702). */
    readonly smartAccount: `0x${string}`
    readonly controlsUrl: string
    /** Solana wallet whose private key is public. */
    readonly solanaWallet: { readonly address: string; readonly privateKey: `0x${string}` }
    /** URL of the received webhooks. In production, the wallet's own back end forwards them to its users. */
    readonly receivedUrl: string
    /** Only account of a frame that shows a prepared state. */
    readonly shown?: { readonly name: string; readonly account: `0x${string}` }
  }
}

/** Loads the configuration. Throws if it is missing. */
export async function loadConfig(): Promise<Config> {
  const response = await fetch('/config.json')
  if (!response.ok) throw new Error(`/config.json answered ${response.status}.`)
  return response.json()
}
