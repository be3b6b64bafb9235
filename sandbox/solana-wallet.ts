import { createPrivateKey, sign } from 'node:crypto'
import { hexToBytes } from 'viem'
import { SOLANA_WALLET } from './accounts.ts'

/** PKCS #8 prefix of an Ed25519 private key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Signs a message with the local Solana wallet and returns the signature in base58. */
export function signOnSolana(message: string): string {
  const der = Buffer.concat([PKCS8_PREFIX, hexToBytes(SOLANA_WALLET.privateKey)])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return encodeBase58(sign(null, Buffer.from(message), key))
}

/** Encodes bytes in base58. */
export function encodeBase58(bytes: Uint8Array): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  for (; number > 0n; number /= 58n) text = DIGITS[Number(number % 58n)] + text
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + text
}
