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

/**
 * Gas limit of the eth_call that checks a signature. It suffices to deploy an account contract and verify several
 * signatures. It is limited because the caller chooses the contract, which could otherwise burn any amount of gas.
 */
const MAX_GAS = numberToHex(5_000_000)

const erc1271Abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** Return value of a valid ERC-1271 signature check: the function's selector 0x1626ba7e, padded to 32 bytes. */
const ERC1271_YES = padHex('0x1626ba7e', { dir: 'right', size: 32 })

/**
 * Returns true if the wallet made this signature of the message. The wallet is a plain EVM account, a deployed
 * (ERC-1271) or undeployed (ERC-6492) contract account, or a Solana account with a base58 signature. Contract accounts
 * need one eth_call to their chain; the other kinds need none. Throws the errors of the chain reader.
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
  // The cast is safe: the schema `WalletAddress` has already validated this address.
  const account = address as Address
  const call = isWrapped
    ? // The constructor of the ERC-6492 validator returns the result, so the validator needs no deployment (https://eips.ethereum.org/EIPS/eip-6492).
      {
        data: encodeDeployData({
          abi: erc6492SignatureValidatorAbi,
          bytecode: erc6492SignatureValidatorByteCode,
          args: [account, hash, signature],
        }),
      }
    : { to: account, data: encodeFunctionData({ abi: erc1271Abi, args: [hash, signature] }) }
  const params = [{ ...call, gas: MAX_GAS }, 'latest']
  const [outcome] = await getReader(chainId).request([{ method: 'eth_call', params }])
  if (!outcome || !('result' in outcome) || !isHex(outcome.result)) return false
  return isWrapped ? isTrue(outcome.result) : outcome.result === ERC1271_YES
}

/** Returns true if these return data are the number 1, as one byte or as a 32-byte word. */
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
