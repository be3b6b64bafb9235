import { createPublicKey, verify } from 'node:crypto'
import {
  type Address,
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  hashMessage,
  hexToBigInt,
  isHex,
  recoverAddress,
} from 'viem'
import { decodeBase58 } from '../../../lib/accounts/base58.ts'
import type { WalletChallenge } from '../../../lib/accounts/challenges.ts'
import { isOfSmallOrder } from '../../../lib/accounts/public-key.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'

/**
 * Whether this signature of the message is the wallet's own: of a plain EVM account, or of a contract account that is
 * deployed (ERC-1271) or not yet (ERC-6492), as its own chain sees it; or of a Solana account, in base58.
 * One call to a chain, for what is no plain account's signature alone. Throws AppError `upstream_*`.
 */
export async function isSignedBy(
  { address, chain, chainId }: Pick<WalletChallenge, 'address' | 'chain' | 'chainId'>,
  message: string,
  signature: string,
  getReader: (chainId: number) => Pick<ChainReader, 'request'>,
): Promise<boolean> {
  if (chain === 'solana') return isSignedOnSolana(address, message, signature)
  if (!isHex(signature) || signature.length % 2 === 1) return false
  const hash = hashMessage(message)
  const recovered = await recoverAddress({ hash, signature }).catch(() => undefined)
  if (recovered === address) return true

  // The validator's constructor gives the answer, so that it needs to be deployed nowhere (https://eips.ethereum.org/EIPS/eip-6492).
  const data = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    // The schema of wallet addresses has checked it.
    args: [address as Address, hash, signature],
  })
  const [outcome] = await getReader(chainId).request([{ method: 'eth_call', params: [{ data }, 'latest'] }])
  return outcome !== undefined && 'result' in outcome && isTrue(outcome.result)
}

/** Whether a call returned true, as one byte or as a word. */
function isTrue(result: unknown): boolean {
  return isHex(result) && result.length > 2 && hexToBigInt(result) === 1n
}

function isSignedOnSolana(address: string, message: string, signature: string): boolean {
  const publicKey = decodeBase58(address, 32)
  const bytes = decodeBase58(signature, 64)
  if (!publicKey || !bytes || isOfSmallOrder(publicKey)) return false
  const x = Buffer.from(publicKey).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, Buffer.from(message), key, bytes)
}
