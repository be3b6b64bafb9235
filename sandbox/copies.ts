import { type Address, encodeAbiParameters, type Hex, keccak256, numberToHex, toHex } from 'viem'
import { inBatches } from '../lib/core/batches.ts'
import type { LocalChain } from './chains.ts'
import { callRpc } from './rpc.ts'

/** Returns the first storage slot of a namespace (ERC-7201). */
function namespace(name: string): bigint {
  const inner = BigInt(keccak256(toHex(name))) - 1n
  return BigInt(keccak256(encodeAbiParameters([{ type: 'uint256' }], [inner]))) & ~0xffn
}

const PROXY_WORDS = ['eip1967.proxy.implementation', 'eip1967.proxy.beacon'].map(
  (name) => BigInt(keccak256(toHex(name))) - 1n,
)

/** First storage slots of a Lagoon vault's namespaces: ledger, roles, and state (open or closed). */
export const LAGOON_STORAGE = {
  ledger: 0x5c74d456014b1c0eb4368d944667a568313858a3029a650ff0cb7b56f8b57a00n,
  roles: 0x7c302ed2c673c3d6b4551cf74a01ee649f887e14fd20d13dbca1b6099534d900n,
  state: 0x0e6b3200a60a991c539f47dddaca04a18eb4bcf2b53906fb44751d827f001400n,
}

/** Storage slots that `copyVault` copies: those of ERC-20 tokens, proxies and Lagoon vaults, without mappings such as balances. */
const WORDS: readonly Hex[] = [
  ...words(0n, 8),
  ...PROXY_WORDS,
  ...words(LAGOON_STORAGE.ledger, 13),
  ...words(LAGOON_STORAGE.roles, 7),
  ...words(LAGOON_STORAGE.state, 1),
  ...words(namespace('vaultline.storage.Share'), 4),
].map((word) => numberToHex(word, { size: 32 }))

function words(first: bigint, count: number): bigint[] {
  return Array.from({ length: count }, (_, index) => first + BigInt(index))
}

// Number of storage slots that `copyContract` copies. A token's name and symbol are in its first slots.
const COPIED_WORDS = 5

/** Copies a contract's code and first storage slots to another address. */
export async function copyContract(chain: LocalChain, from: Address, to: Address): Promise<void> {
  const slots = Array.from({ length: COPIED_WORDS }, (_, index) => numberToHex(index, { size: 32 }))
  const [code, ...words] = await callRpc(chain, [
    { method: 'eth_getCode', params: [from, 'latest'] },
    ...slots.map((slot) => ({ method: 'eth_getStorageAt', params: [from, slot, 'latest'] })),
  ])
  await callRpc(chain, [
    { method: 'anvil_setCode', params: [to, code] },
    ...slots.map((slot, index) => ({ method: 'anvil_setStorageAt', params: [to, slot, words[index]] })),
  ])
}

const CALLS = 2_000

/**
 * Copies a vault's code, and its storage except mappings, to more addresses. The copies have the vault's settings, but no account has a
 * balance. Sends no transactions.
 */
export async function copyVault(chain: LocalChain, vault: Address, copies: readonly Address[]): Promise<void> {
  const [code, ...values] = await callRpc(chain, [
    { method: 'eth_getCode', params: [vault, 'latest'] },
    ...WORDS.map((slot) => ({ method: 'eth_getStorageAt', params: [vault, slot, 'latest'] })),
  ])
  const set = WORDS.flatMap((slot, index) => (BigInt(String(values[index])) === 0n ? [] : [[slot, values[index]]]))
  const calls = copies.flatMap((copy) => [
    { method: 'anvil_setCode', params: [copy, code] },
    ...set.map((word) => ({ method: 'anvil_setStorageAt', params: [copy, ...word] })),
  ])
  for (const some of inBatches(calls, CALLS)) await callRpc(chain, some)
}
