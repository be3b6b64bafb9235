import { describe, expect, test } from 'vitest'
import { connectSolana, type SolanaWallet, signWithSolana } from '../../wallet/src/solana.ts'

type Account = SolanaWallet['accounts'][number]

const BITCOIN = { address: 'bc1', chains: ['bitcoin:mainnet'], features: ['bitcoin:signMessage'] }
const HARDWARE = { address: 'Ledger', chains: ['solana:mainnet'], features: ['solana:signTransaction'] }
const SOLANA = { address: 'So1', chains: ['solana:mainnet'], features: ['solana:signMessage'] }

/** Creates a Solana wallet with these accounts. It signs each message with `header` in front. */
function walletOf(accounts: readonly Account[], header: readonly number[] = []): SolanaWallet {
  return {
    ...{ name: 'Many chains', icon: '', accounts },
    features: {
      'standard:connect': { connect: async () => ({ accounts }) },
      'solana:signMessage': {
        signMessage: async ({ message }) => [
          { signedMessage: Uint8Array.of(...header, ...message), signature: Uint8Array.of(0, 58) },
        ],
      },
    },
  }
}

describe('A Solana wallet', () => {
  test('connects its first Solana account that signs messages', async () => {
    expect(await connectSolana(walletOf([BITCOIN, HARDWARE, SOLANA]))).toBe(SOLANA)
  })

  test('without a Solana account that signs messages leads to an error', async () => {
    const connecting = connectSolana(walletOf([BITCOIN, HARDWARE]))
    await expect(connecting).rejects.toThrow('Many chains has no Solana account that signs messages.')
  })

  test('returns its signature of the message', async () => {
    expect(await signWithSolana(walletOf([SOLANA]), SOLANA, 'Link me')).toBe('121')
  })

  test('that signs a message with a header has another error than one that signs with another account', async () => {
    const signing = signWithSolana(walletOf([SOLANA], [0xff]), SOLANA, 'Link me')
    await expect(signing).rejects.toThrow('This wallet changed the message before signing. Use another wallet.')
  })
})
