import { type Address, encodeFunctionData, numberToHex, parseAbi, parseEther, parseUnits } from 'viem'
import { evmChain } from '../../lib/chain/registry.ts'
import { ACCOUNTS } from '../accounts.ts'
import type { LocalChain } from '../chains.ts'
import { settleRequests } from '../curator.ts'
import { callRpc } from '../rpc.ts'
import { type LocalTransaction, transact } from '../transactions.ts'
import { type LocalToken, type LocalVault, type LocalWorld, openVaults, USER_BALANCE } from './world.ts'

/** Age in seconds of the first block of a chain with history: 120 days. */
export const PAST_SECONDS = 120 * 86_400

const DAY = 86_400
/** Gain of each vault per two weeks, in millionths of its assets; about 4 to 9 % a year. */
const GAINS = [2_400n, 1_700n, 3_100n, 2_000n, 2_700n, 1_650n, 3_400n]
const MANAGED_SHARES = 10n ** 6n
/** Balances that the first user keeps, in whole tokens, like those of a typical person. The second user gets the rest. */
const PURSES: { readonly [chainId: number]: { readonly [symbol: string]: string } } = {
  8453: { ETH: '1.4', USDC: '31000', DAI: '900', USDT: '640' },
  42161: { ETH: '0.6', USDC: '15000', DAI: '6400', USDT: '310' },
}

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
 * Sends the transactions of four months with past timestamps, and returns the resulting tokens and vaults. Vaults earn yield, and some
 * vaults are deployed later. The first user deposits, withdraws, and transfers shares. The chain must have begun `PAST_SECONDS` ago, and
 * must mine a block per transaction.
 */
export async function playHistory(chain: LocalChain, world: LocalWorld, now: () => number): Promise<LocalWorld> {
  const begin = Math.floor(now() / 1000) - PAST_SECONDS
  const { tokens } = world
  const vaults = [...world.vaults]
  // The cast is safe: every local vault's asset is one of the tokens.
  const tokenOf = ({ asset }: LocalVault) => tokens.find(({ address }) => address === asset) as LocalToken
  const first = vaults.find(({ protocol }) => protocol === 'lagoon')
  const synchronous = vaults.find(({ type }) => type === 'sync')
  if (!first || !synchronous) throw new Error('The world lacks a vault')
  const on = async (day: number, act: () => Promise<unknown>) => {
    await callRpc(chain, [{ method: 'evm_setNextBlockTimestamp', params: [begin + day * DAY] }])
    await act()
  }
  const open = (day: number) => on(day, async () => vaults.push(...(await openVaults(chain, tokens, day))))
  const amount = (vault: LocalVault, tokens: string) => parseUnits(tokens, tokenOf(vault).decimals)
  const gains = (day: number) =>
    on(day, async () => {
      const totals = await readTotalAssets(chain, vaults)
      const grown = vaults.map((vault, index) => {
        const total = totals[index] ?? 0n
        return { vault, total, gain: (total * (GAINS[index] ?? 0n)) / 1_000_000n }
      })
      await transact(
        chain,
        grown.flatMap(({ vault, total, gain }) => {
          if (vault.protocol === 'lagoon') return settleWithGain(vault, total, gain)
          if (vault.type === 'async') return []
          // This withdrawal emits an event. A scheduled job of the service computes past share prices from the event's amounts.
          const trade = call(ANCHOR, vault.address, 'withdraw', [amount(vault, '1'), ANCHOR, ANCHOR])
          return [call(ALICE, vault.asset, 'mint', [vault.address, gain]), trade]
        }),
      )
      for (const { vault, gain } of grown.filter(({ vault }) => vault.protocol === 'erc7540')) {
        const { address } = vault
        await transact(chain, [call(ANCHOR, address, 'requestRedeem', [MANAGED_SHARES, ANCHOR, ANCHOR])])
        await settleRequests(chain, address, { gain })
        await transact(chain, [call(ANCHOR, address, 'redeem', [MANAGED_SHARES, ANCHOR, ANCHOR])])
      }
    })

  const { ETH = '0', ...purse } = PURSES[chain.chainId] ?? {}
  await callRpc(chain, [{ method: 'anvil_setBalance', params: [ALICE, numberToHex(parseEther(ETH))] }])
  await on(1, () =>
    transact(
      chain,
      tokens.map(({ address, symbol, decimals }) => {
        const rest = parseUnits(USER_BALANCE, decimals) - parseUnits(purse[symbol] ?? '0', decimals)
        return call(ALICE, address, 'transfer', [BOB, rest])
      }),
    ),
  )
  const deposit = amount(first, '10000')
  await on(6, () => transact(chain, [approve(first, deposit), request(first, deposit)]))
  await gains(8)
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
  await open(80)
  await on(84, () => transact(chain, [call(ALICE, first.address, 'transfer', [BOB, parseUnits('500', 18)])]))
  await gains(92)
  await gains(106)
  await gains(116)
  await open(117)
  return { ...world, vaults }
}

/**
 * Number of blocks that `moveToNow` mines at the end. All earlier blocks become final, because a local chain's finalized block is only 4
 * blocks behind the head.
 */
const LATEST_BLOCKS = 6

/** Mines blocks until all earlier blocks are final, and moves the chain's clock to the present. */
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
  // The cast is safe: TypeScript cannot check an overloaded function's arguments by name, but the contract checks them.
  const data = encodeFunctionData({ abi: CALLS, functionName, args } as Parameters<typeof encodeFunctionData>[0])
  return { label: `${functionName} of the past`, from, to, data }
}
