type SolanaAccount = {
  readonly address: string
  /** Chains of the account, such as `solana:mainnet`; a multichain wallet also has accounts of other chains. */
  readonly chains: readonly string[]
  readonly features: readonly string[]
}

/** Wallet of this browser that signs messages with a Solana account (https://github.com/wallet-standard/wallet-standard). */
export type SolanaWallet = {
  readonly name: string
  readonly icon: string
  /** Accounts that the user permits this page to see. */
  readonly accounts: readonly SolanaAccount[]
  readonly features: {
    readonly 'standard:connect': { connect(): Promise<{ readonly accounts: readonly SolanaAccount[] }> }
    readonly 'solana:signMessage': {
      signMessage(input: {
        readonly account: SolanaAccount
        readonly message: Uint8Array
      }): Promise<readonly { readonly signedMessage: Uint8Array; readonly signature: Uint8Array }[]>
    }
  }
}

/** Connects the wallet's first Solana account that can sign messages. Throws if there is none, and throws the wallet's own errors. */
export async function connectSolana(wallet: SolanaWallet): Promise<SolanaAccount> {
  const { accounts } = await wallet.features['standard:connect'].connect()
  const account = accounts.find(
    ({ chains, features }) =>
      chains.some((chain) => chain.startsWith('solana:')) && features.includes('solana:signMessage'),
  )
  if (!account) throw new Error(`${wallet.name} has no Solana account that signs messages.`)
  return account
}

/**
 * Returns the account's signature of exactly this message, in base58. Throws if the wallet signed another message, or the wallet's own
 * error.
 */
export async function signWithSolana(wallet: SolanaWallet, account: SolanaAccount, message: string): Promise<string> {
  const input = { account, message: new TextEncoder().encode(message) }
  const [signed] = await wallet.features['solana:signMessage'].signMessage(input)
  if (!signed) throw new Error(`${wallet.name} did not sign.`)
  // Some wallets add a header to the message, so the signature would not match the service's message.
  if (`${signed.signedMessage}` !== `${input.message}`) {
    throw new Error('This wallet changed the message before signing. Use another wallet.')
  }
  return toBase58(signed.signature)
}

const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

function toBase58(bytes: Uint8Array): string {
  let text = ''
  for (let rest = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n); rest > 0n; rest /= 58n) {
    text = DIGITS[Number(rest % 58n)] + text
  }
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + text
}
