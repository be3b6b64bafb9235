import {
  type Address,
  encodeFunctionData,
  getAddress,
  hexToBigInt,
  maxUint256,
  numberToHex,
  parseAbi,
  slice,
} from 'viem'
import { getStorageAt, readContract } from 'viem/actions'
import type { LocalChain } from '../chains.ts'
import { LAGOON_STORAGE } from '../copies.ts'
import { createBatchingClient } from '../rpc.ts'
import { type LocalTransaction, transact } from '../transactions.ts'
import { buildMint, buildSettlement, type Settlement } from './settlement.ts'

const VAULT = parseAbi([
  'function depositEpochId() view returns (uint40)',
  'function asset() view returns (address)',
  'function totalAssets() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function isTotalAssetsValid() view returns (bool)',
  'function expireTotalAssets()',
  'function updateNewTotalAssets(uint256)',
  'function settleDeposit()',
  'function settleDeposit(uint256)',
])

// First storage slots of a Lagoon vault. Its values are read from storage, because some contract versions lack getters.
const { ledger: LEDGER, roles: ROLES, state: STATE } = LAGOON_STORAGE

/**
 * Settles a Lagoon vault. The valuation manager proposes the total assets plus `gain` as valuation. The safe accepts the valuation, which
 * settles the pending requests.
 */
export async function settleLagoon(chain: LocalChain, vault: Address, gain: bigint): Promise<Settlement> {
  const reader = contractReader(chain, vault)
  const [safe, valuationManager, asset, totalAssets, isValid, isFirst] = await Promise.all([
    reader.address(ROLES + 2n),
    reader.address(ROLES + 4n),
    reader.read('asset'),
    reader.read('totalAssets'),
    // The function isTotalAssetsValid exists only since Lagoon v0.5.
    reader.read('isTotalAssetsValid').catch(() => false),
    // The function depositEpochId exists only in Lagoon v0.1, so its existence reveals that version.
    reader.read('depositEpochId').then(
      () => true,
      () => false,
    ),
  ])
  const valuation = totalAssets + gain
  const call = (from: Address, label: string, data: LocalTransaction['data']) => ({ label, from, to: vault, data })

  const propose = encodeFunctionData({ abi: VAULT, functionName: 'updateNewTotalAssets', args: [valuation] })
  // The safe must pass the proposed valuation to the function settleDeposit, except in Lagoon v0.1.
  const args = isFirst ? ([] as const) : ([valuation] as const)
  const accept = encodeFunctionData({ abi: VAULT, functionName: 'settleDeposit', args })
  // The vault rejects a new valuation while the last one is valid, so the safe first expires the last one.
  const expire = encodeFunctionData({ abi: VAULT, functionName: 'expireTotalAssets' })
  const hashes = await transact(chain, [
    ...(isValid ? [call(safe, `expireTotalAssets of ${vault}`, expire)] : []),
    ...buildMint(safe, asset, gain),
    call(valuationManager, `updateNewTotalAssets of ${vault}`, propose),
    call(safe, `settleDeposit of ${vault}`, accept),
  ])
  return buildSettlement(chain, vault, valuation, hashes)
}

/** Returns whether a Lagoon vault is open and has requests or a proposed valuation to settle. */
export async function lagoonHasPending(chain: LocalChain, vault: Address): Promise<boolean> {
  const reader = contractReader(chain, vault)
  const [state, proposal, silo, asset] = await Promise.all([
    reader.word(STATE),
    reader.word(LEDGER + 1n),
    reader.address(LEDGER + 8n),
    reader.read('asset'),
  ])
  if (state !== 0n) return false
  if (proposal !== maxUint256) return true
  const balances = await Promise.all([contractReader(chain, asset).balanceOf(silo), reader.balanceOf(silo)])
  return balances.some((balance) => balance > 0n)
}

function contractReader(chain: LocalChain, address: Address) {
  const client = createBatchingClient(chain)
  const word = async (slot: bigint) => {
    const value = await getStorageAt(client, { address, slot: numberToHex(slot, { size: 32 }) })
    return hexToBigInt(value ?? '0x0')
  }
  return {
    word,
    address: async (slot: bigint) => getAddress(slice(numberToHex(await word(slot), { size: 32 }), 12)),
    read: <name extends 'asset' | 'totalAssets' | 'isTotalAssetsValid' | 'depositEpochId'>(functionName: name) =>
      readContract(client, { address, abi: VAULT, functionName }),
    balanceOf: (account: Address) =>
      readContract(client, { address, abi: VAULT, functionName: 'balanceOf', args: [account] }),
  }
}
