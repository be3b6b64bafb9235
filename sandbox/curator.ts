import {
  type Address,
  createClient,
  encodeFunctionData,
  getAddress,
  type Hash,
  hexToBigInt,
  http,
  maxUint256,
  numberToHex,
  parseAbi,
  slice,
} from 'viem'
import { getStorageAt, readContract } from 'viem/actions'
import type { LocalChain } from './chains.ts'
import { LAGOON_STORAGE } from './copies.ts'
import { type LocalTransaction, transact } from './transactions.ts'

/** What a settlement did: the valuation it accepted, in the asset's smallest unit, and its transaction. */
export type Settlement = {
  readonly chainId: number
  readonly vault: Address
  readonly totalAssets: bigint
  readonly transactionHash: Hash
}

/** The async vaults of a chain that a curator looks after. */
export type CuratedChain = { readonly chain: LocalChain; readonly vaults: readonly Address[] }

/** A running curator; `stop` resolves when its last round is over. */
export type Curator = { stop(): Promise<void> }

const VAULT = parseAbi([
  'function version() view returns (string)',
  'function asset() view returns (address)',
  'function totalAssets() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function isTotalAssetsValid() view returns (bool)',
  'function expireTotalAssets()',
  'function updateNewTotalAssets(uint256)',
  'function settleDeposit()',
  'function settleDeposit(uint256)',
])
const TOKEN = parseAbi(['function mint(address, uint256)'])

// Storage words without a getter in at least one generation.
const { ledger: LEDGER, roles: ROLES, state: STATE } = LAGOON_STORAGE

/**
 * Values an async vault at its total assets plus `gain` (minted to its safe) and settles what is pending, as its own
 * valuation manager and safe, which must be accounts of the local chain. Throws when the vault refuses.
 */
export async function settle(chain: LocalChain, vault: Address, { gain = 0n } = {}): Promise<Settlement> {
  const reader = contractReader(chain, vault)
  const [safe, valuationManager, asset, totalAssets, isValid, version] = await Promise.all([
    reader.address(ROLES + 2n),
    reader.address(ROLES + 4n),
    reader.read('asset'),
    reader.read('totalAssets'),
    // Only 0.5 and later have this, and all but 0.1 the other.
    reader.read('isTotalAssetsValid').catch(() => false),
    reader.read('version').catch(() => undefined),
  ])
  const valuation = totalAssets + gain
  const call = (from: Address, label: string, data: LocalTransaction['data'], to = vault) => ({ label, from, to, data })

  const propose = encodeFunctionData({ abi: VAULT, functionName: 'updateNewTotalAssets', args: [valuation] })
  // 0.1 takes the proposed valuation as it is; later the safe must repeat it.
  const args = version === undefined ? ([] as const) : ([valuation] as const)
  const accept = encodeFunctionData({ abi: VAULT, functionName: 'settleDeposit', args })
  const transactions = [
    call(valuationManager, `updateNewTotalAssets of ${vault}`, propose),
    call(safe, `settleDeposit of ${vault}`, accept),
  ]
  if (gain > 0n) {
    const mint = encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [safe, gain] })
    transactions.unshift(call(safe, 'mint', mint, asset))
  }
  if (isValid) {
    // A valuation that still stands must be ended before another is proposed.
    const expire = encodeFunctionData({ abi: VAULT, functionName: 'expireTotalAssets' })
    transactions.unshift(call(safe, `expireTotalAssets of ${vault}`, expire))
  }

  const transactionHash = (await transact(chain, transactions)).at(-1)
  if (!transactionHash) throw new Error('Nothing was sent')
  return { chainId: chain.chainId, vault, totalAssets: valuation, transactionHash }
}

/** Whether an open vault holds requests, or a proposed valuation, that a settlement would settle. */
export async function hasPending(chain: LocalChain, vault: Address): Promise<boolean> {
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

/**
 * Settles every vault that has something pending, every `everySeconds`, without a gain; a vault or a chain that fails is
 * tried again the next time.
 */
export function startCurator(options: {
  readonly chains: readonly CuratedChain[]
  readonly everySeconds: number
  readonly onError?: (error: unknown) => void
}): Curator {
  const { chains, everySeconds, onError } = options
  let stopped = false
  let round: Promise<unknown> | undefined

  const settleChain = async ({ chain, vaults }: CuratedChain) => {
    // One after the other, because all have the same safe and its transactions are numbered.
    for (const vault of vaults) {
      try {
        if (!stopped && (await hasPending(chain, vault))) await settle(chain, vault)
      } catch (error) {
        onError?.(error)
      }
    }
  }
  const timer = setInterval(() => {
    round ??= Promise.all(chains.map(settleChain)).finally(() => {
      round = undefined
    })
  }, everySeconds * 1000)
  return {
    async stop() {
      stopped = true
      clearInterval(timer)
      await round
    },
  }
}

function contractReader(chain: LocalChain, address: Address) {
  const client = createClient({ transport: http(chain.rpcUrl, { batch: true, retryCount: 0 }) })
  const word = async (slot: bigint) => {
    const value = await getStorageAt(client, { address, slot: numberToHex(slot, { size: 32 }) })
    return hexToBigInt(value ?? '0x0')
  }
  return {
    word,
    address: async (slot: bigint) => getAddress(slice(numberToHex(await word(slot), { size: 32 }), 12)),
    read: <name extends 'asset' | 'totalAssets' | 'isTotalAssetsValid' | 'version'>(functionName: name) =>
      readContract(client, { address, abi: VAULT, functionName }),
    balanceOf: (account: Address) =>
      readContract(client, { address, abi: VAULT, functionName: 'balanceOf', args: [account] }),
  }
}
