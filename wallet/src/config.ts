import type { PublicKey } from '@vaultline/client/verify'

/** What the page that serves the wallet tells it, as `/config.json`. */
export type Config = {
  /** Where the service is. */
  readonly apiUrl: string
  /** The key of this wallet; it opens no account. */
  readonly apiKey: string
  /** The keys that the service signs its answers with, from whoever runs it: what they have not signed is not sent. */
  readonly signingKeys: readonly PublicKey[]
  /** The chains that the wallet sends to, and where it reads them. */
  readonly chains: readonly { readonly chainId: number; readonly rpcUrl: string }[]
  /** Only on the service of one machine: accounts whose keys everybody knows, and what moves the sandbox. */
  readonly sandbox?: {
    readonly accounts: readonly `0x${string}`[]
    readonly controlsUrl: string
    /** What the service has told; a wallet's own back end would tell its users of theirs. */
    readonly receivedUrl: string
  }
}

/** Loads the configuration; throws where it is not there. */
export async function loadConfig(): Promise<Config> {
  const response = await fetch('/config.json')
  if (!response.ok) throw new Error(`/config.json answered ${response.status}.`)
  return response.json()
}
