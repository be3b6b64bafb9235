import { type Address, encodeFunctionData, numberToHex, parseAbi, parseUnits } from 'viem'
import { evmChain } from '../../lib/chain/registry.ts'
import { ACCOUNTS } from '../accounts.ts'
import type { LocalChain } from '../chains.ts'
import { settle } from '../curator.ts'
import { callRpc } from '../rpc.ts'
import { type LocalTransaction, transact } from '../transactions.ts'
import type { LocalToken, LocalVault, LocalWorld } from './world.ts'

/** How long before now a chain with a past begins, in seconds. */
export const PAST_SECONDS = 120 * 86_400

const DAY = 86_400
/** What the vaults earn in two weeks, in millionths of their assets: a different one for each, about 4 to 9 % a year. */
const GAINS = [2_400n, 1_700n, 3_100n, 2_000n]
/** What a vault with a manager earns in two weeks, in whole tokens. */
const MANAGED_GAIN = '610'
/** One of its shares. */
const MANAGED_SHARES = 10n ** 6n

const CALLS = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function totalAssets() view returns (uint256)',
  'function requestDeposit(uint256 assets, address controller, address owner)',
  'function deposit(uint256 assets, address receiver, address controller)',
  'function deposit(uint256 assets, address receiver)',
  'function requestRedeem(uint256 shares, address controller, address owner)',
  'function updateNewTotalAssets(uint256 totalAssets)',
  'function settleDeposit(uint256 totalAssets)',
  'function redeem(uint256 shares, address receiver, address controller)',
  'function withdraw(uint256 assets, address receiver, address owner)',
])

const ANCHOR = ACCOUNTS.anchor.address
const [ALICE, BOB] = ACCOUNTS.users.map(({ address }) => address) as [Address, Address]

/**
 * Plays months of a chain's past up to now: every vault gains, and the first user deposits at once and in parts,
 * withdraws, and gives shares away. The chain must have begun `PAST_SECONDS` ago and mine a block per transaction.
 */
export async function playHistory(chain: LocalChain, { tokens, vaults }: LocalWorld, now: () => number): Promise<void> {
  const begin = Math.floor(now() / 1000) - PAST_SECONDS
  // Every vault of the local world was deployed over one of its tokens.
  const tokenOf = ({ asset }: LocalVault) => tokens.find(({ address }) => address === asset) as LocalToken
  const lagoon = vaults.filter(({ protocol }) => protocol === 'lagoon')
  const managed = vaults.filter(({ protocol }) => protocol === 'erc7540')
  const [first] = lagoon
  const synchronous = vaults.find(({ type }) => type === 'sync')
  if (!first || !synchronous) throw new Error('The world lacks a vault')
  const on = async (day: number, act: () => Promise<unknown>) => {
    await callRpc(chain, [{ method: 'evm_setNextBlockTimestamp', params: [begin + day * DAY] }])
    await act()
  }
  const amount = (vault: LocalVault, tokens: string) => parseUnits(tokens, tokenOf(vault).decimals)
  const gains = (day: number) =>
    on(day, async () => {
      const totals = await readTotalAssets(chain, lagoon)
      const settlements = lagoon.flatMap((vault, index) => {
        const total = totals[index] ?? 0n
        return settleWithGain(vault, total, (total * (GAINS[index] ?? 0n)) / 1_000_000n)
      })
      const yielded = call(ALICE, synchronous.asset, 'mint', [synchronous.address, amount(synchronous, '420')])
      // The job reads a price of the past where somebody traded.
      const traded = call(ANCHOR, synchronous.address, 'withdraw', [amount(synchronous, '1'), ANCHOR, ANCHOR])
      await transact(chain, [...settlements, yielded, traded])
      for (const vault of managed) {
        const { address } = vault
        await transact(chain, [call(ANCHOR, address, 'requestRedeem', [MANAGED_SHARES, ANCHOR, ANCHOR])])
        await settle(chain, address, { gain: amount(vault, MANAGED_GAIN) })
        await transact(chain, [call(ANCHOR, address, 'redeem', [MANAGED_SHARES, ANCHOR, ANCHOR])])
      }
    })

  const deposit = amount(first, '10000')
  await on(6, () => transact(chain, [approve(first, deposit), request(first, deposit)]))
  await gains(8)
  // A part of the claim now, the rest weeks later.
  await on(9, () => transact(chain, [call(ALICE, first.address, 'deposit', [amount(first, '6000'), ALICE, ALICE])]))
  await gains(22)
  await on(30, () => transact(chain, [call(ALICE, first.address, 'deposit', [amount(first, '4000'), ALICE, ALICE])]))
  await gains(36)
  const atOnce = amount(synchronous, '5000')
  await on(40, () =>
    transact(chain, [approve(synchronous, atOnce), call(ALICE, synchronous.address, 'deposit', [atOnce, ALICE])]),
  )
  await gains(50)
  const redeemed = parseUnits('2000', 18)
  await on(62, () => transact(chain, [call(ALICE, first.address, 'requestRedeem', [redeemed, ALICE, ALICE])]))
  await gains(64)
  await on(66, () => transact(chain, [call(ALICE, first.address, 'redeem', [redeemed, ALICE, ALICE])]))
  await gains(78)
  await on(84, () => transact(chain, [call(ALICE, first.address, 'transfer', [BOB, parseUnits('500', 18)])]))
  await gains(92)
  await gains(106)
  await gains(116)
}

/** More blocks than the tags of local chains are behind their heads. */
const LATEST_BLOCKS = 6

/** Mines some blocks over as long as it takes for everything before them to be final, and ends in the present. */
export async function moveToNow(chain: LocalChain, now: () => number): Promise<void> {
  const seconds = evmChain(chain.chainId)?.finality.seconds ?? 0
  const pace = Math.ceil(seconds / LATEST_BLOCKS)
  const present = Math.floor(now() / 1000)
  await callRpc(chain, [{ method: 'evm_setNextBlockTimestamp', params: [present - pace * LATEST_BLOCKS - 5] }])
  await callRpc(chain, [{ method: 'anvil_mine', params: [numberToHex(LATEST_BLOCKS + 1), numberToHex(pace)] }])
  await callRpc(chain, [{ method: 'evm_setTime', params: [Math.floor(now() / 1000)] }])
  await callRpc(chain, [{ method: 'evm_mine', params: [] }])
}

async function readTotalAssets(chain: LocalChain, vaults: readonly LocalVault[]): Promise<bigint[]> {
  const data = encodeFunctionData({ abi: CALLS, functionName: 'totalAssets' })
  const calls = vaults.map(({ address }) => ({ method: 'eth_call', params: [{ to: address, data }, 'latest'] }))
  return (await callRpc(chain, calls)).map((word) => BigInt(String(word)))
}

/** The curator values the vault with a gain, which arrives in its safe, and settles what waits. */
function settleWithGain({ address, asset }: LocalVault, totalAssets: bigint, gain: bigint): LocalTransaction[] {
  const { safe, valuationManager } = ACCOUNTS
  return [
    call(safe.address, asset, 'mint', [safe.address, gain]),
    call(valuationManager.address, address, 'updateNewTotalAssets', [totalAssets + gain]),
    call(safe.address, address, 'settleDeposit', [totalAssets + gain]),
  ]
}

function approve({ asset, address }: LocalVault, amount: bigint): LocalTransaction {
  return call(ALICE, asset, 'approve', [address, amount])
}

function request({ address }: LocalVault, amount: bigint): LocalTransaction {
  return call(ALICE, address, 'requestDeposit', [amount, ALICE, ALICE])
}

type Name = Exclude<(typeof CALLS)[number]['name'], 'totalAssets'>

function call(from: Address, to: Address, functionName: Name, args: readonly unknown[]): LocalTransaction {
  // The arguments of an overloaded function cannot be checked by its name alone; the chain checks them.
  const data = encodeFunctionData({ abi: CALLS, functionName, args } as Parameters<typeof encodeFunctionData>[0])
  return { label: `${functionName} of the past`, from, to, data }
}
