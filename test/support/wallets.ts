import { createPrivateKey, sign } from 'node:crypto'
import { hexToBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { type LocalAccount, SOLANA_WALLET } from '../../infra/local/accounts.ts'
import type { Service } from './service.ts'

type Session = { readonly headers: Record<string, string> }

/** Links an EVM wallet to the user. */
export async function linkEvm(
  service: Service,
  session: Session,
  { address, privateKey }: LocalAccount,
): Promise<void> {
  const wallet = privateKeyToAccount(privateKey)
  await link(service, session, { address, chain: 'evm' }, (message) => wallet.signMessage({ message }))
}

/** Links the local Solana wallet to the user. */
export async function linkSolana(service: Service, session: Session): Promise<void> {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  const der = Buffer.concat([prefix, hexToBytes(SOLANA_WALLET.privateKey)])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const toSign = { address: SOLANA_WALLET.address, chain: 'solana' }
  await link(service, session, toSign, async (message) => base58(sign(null, Buffer.from(message), key)))
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

const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

function base58(bytes: Uint8Array): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  for (; number > 0n; number /= 58n) text = DIGITS[Number(number % 58n)] + text
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + text
}
