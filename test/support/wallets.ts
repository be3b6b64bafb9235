import { privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { type LocalAccount, SOLANA_WALLET } from '../../sandbox/accounts.ts'
import { signOnSolana } from '../../sandbox/solana-wallet.ts'
import type { Service } from './service.ts'

type Session = { readonly headers: Record<string, string> }

/** Links an EVM wallet to the logged-in user. */
export async function linkEvm(
  service: Service,
  session: Session,
  { address, privateKey }: LocalAccount,
): Promise<void> {
  const wallet = privateKeyToAccount(privateKey)
  await link(service, session, { address, chain: 'evm' }, (message) => wallet.signMessage({ message }))
}

/** Links the local test wallet on Solana to the logged-in user. */
export async function linkSolana(service: Service, session: Session): Promise<void> {
  const toSign = { address: SOLANA_WALLET.address, chain: 'solana' }
  await link(service, session, toSign, async (message) => signOnSolana(message))
}

async function link(
  service: Service,
  { headers }: Session,
  wallet: { address: string; chain: string },
  signatureOf: (message: string) => Promise<string>,
): Promise<void> {
  const begun = await service.call('POST', '/auth/wallets/init', { headers, body: wallet })
  const { message } = begun.body
  const signature = await signatureOf(message)
  const linked = await service.call('POST', '/auth/wallets', { headers, body: { message, signature } })
  expect(linked).toMatchObject({ status: 201, body: { address: wallet.address } })
}
