import type { Address } from 'viem'
import { createSiweMessage } from 'viem/siwe'
import type { WalletChallenge } from '../../../lib/accounts/challenges.ts'

const STATEMENT = 'Link this wallet to your account. This costs nothing and moves nothing.'

/**
 * Builds the message that a wallet signs to be linked: EIP-4361, or its Solana variant
 * (https://github.com/phantom/sign-in-with-solana).
 */
export function buildWalletMessage(
  { address, chain, chainId, expiresAt }: WalletChallenge,
  { domain, uri, nonce, issuedAt }: { domain: string; uri: string; nonce: string; issuedAt: Date },
): string {
  if (chain === 'evm') {
    return createSiweMessage({
      // The cast is safe: the schema `WalletAddress` has already validated this address.
      address: address as Address,
      chainId,
      domain,
      uri,
      nonce,
      issuedAt,
      expirationTime: expiresAt,
      statement: STATEMENT,
      version: '1',
    })
  }
  return [
    `${domain} wants you to sign in with your Solana account:`,
    address,
    '',
    STATEMENT,
    '',
    `URI: ${uri}`,
    'Version: 1',
    'Chain ID: mainnet',
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt.toISOString()}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
  ].join('\n')
}
