import { createPublicKey, verify } from 'node:crypto'
import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hashMessage,
  hexToBigInt,
  isErc6492Signature,
  isHex,
  numberToHex,
  padHex,
  parseAbi,
  recoverAddress,
} from 'viem'
import { decodeBase58 } from '../../../lib/accounts/base58.ts'
import type { WalletChallenge } from '../../../lib/accounts/challenges.ts'
import { isOfSmallOrder } from '../../../lib/accounts/public-key.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'

/** Enough for an account to be deployed and to check several signatures; who asks chose the code that uses it. */
const MOST_GAS = numberToHex(5_000_000)

const erc1271Abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** What a contract account returns for a signature of its own: the function's selector, as a word. */
const ERC1271_YES = padHex('0x1626ba7e', { dir: 'right', size: 32 })

/**
 * Whether this signature of the message is the wallet's own: of a plain EVM account, or of a contract account that is
 * deployed (ERC-1271) or not yet (ERC-6492), as its own chain sees it; or of a Solana account, in base58.
 * One call to a chain, for what is no plain account's signature alone. Throws what the reader does.
 */
export async function isSignedBy(
  { address, chain, chainId }: Pick<WalletChallenge, 'address' | 'chain' | 'chainId'>,
  message: string,
  signature: string,
  getReader: (chainId: number) => Pick<ChainReader, 'request'>,
): Promise<boolean> {
  if (chain === 'solana') return isSignedOnSolana(address, message, signature)
  if (!isHex(signature) || signature === '0x' || signature.length % 2 === 1) return false
  const hash = hashMessage(message)
  const recovered = await recoverAddress({ hash, signature }).catch(() => undefined)
  if (recovered === address) return true

  const isWrapped = isErc6492Signature(signature)
  // The schema of wallet addresses has checked it.
  const account = address as Address
  const call = isWrapped
    ? // The validator's constructor gives the answer, so that it needs to be deployed nowhere (https://eips.ethereum.org/EIPS/eip-6492).
      {
        data: encodeDeployData({
          abi: erc6492SignatureValidatorAbi,
          bytecode: erc6492SignatureValidatorByteCode,
          args: [account, hash, signature],
        }),
      }
    : { to: account, data: encodeFunctionData({ abi: erc1271Abi, args: [hash, signature] }) }
  const params = [{ ...call, gas: MOST_GAS }, 'latest']
  const [outcome] = await getReader(chainId).request([{ method: 'eth_call', params }])
  if (!outcome || !('result' in outcome) || !isHex(outcome.result)) return false
  return isWrapped ? isTrue(outcome.result) : outcome.result === ERC1271_YES
}

/** Whether a call returned true, as one byte or as a word. */
function isTrue(result: Hex): boolean {
  return result.length > 2 && hexToBigInt(result) === 1n
}

function isSignedOnSolana(address: string, message: string, signature: string): boolean {
  const publicKey = decodeBase58(address, 32)
  const bytes = decodeBase58(signature, 64)
  if (!publicKey || !bytes || isOfSmallOrder(publicKey)) return false
  const x = Buffer.from(publicKey).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, Buffer.from(message), key, bytes)
}
