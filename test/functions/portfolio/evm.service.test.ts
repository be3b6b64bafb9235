import { type Address, getAddress, type Hex } from 'viem'
import { test as base, describe, expect } from 'vitest'
import { readEvmBalances } from '../../../functions/portfolio/all-balances/evm.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { createChainReader } from '../../../lib/chain/reader.ts'
import { type EvmChain, evmChain } from '../../../lib/chain/registry.ts'
import type { ListedToken } from '../../../lib/markets/coin.ts'
import { ACCOUNTS } from '../../../sandbox/accounts.ts'
import { type LocalChain, startChain } from '../../../sandbox/chains.ts'
import { deployToken, deployYieldVault } from '../../../sandbox/deploy.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { transact } from '../../../sandbox/transactions.ts'
import { someVault } from '../../support/clients.ts'
import { buildTransaction } from '../../support/oracles.ts'
import { CHAIN_FAILURES, listRpcCalls, startRecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB] = ACCOUNTS.users.map(({ address }) => address) as [Address, Address]
const NOBODY: Address = getAddress('0x00000000000000000000000000000000000000F1')
const ETHER = 10n ** 18n

/** Contracts that are no valid tokens: address and bytecode. The name says how the contract answers calls. */
const BROKEN = {
  reverts: [getAddress('0x00000000000000000000000000000000000000E1'), '0x5f5ffd'],
  burns: [getAddress('0x00000000000000000000000000000000000000E2'), '0xfe'],
  answersOneByte: [getAddress('0x00000000000000000000000000000000000000E3'), '0x60015ff3'],
} as const satisfies Record<string, readonly [Address, Hex]>
const NO_CONTRACT: Address = getAddress('0x00000000000000000000000000000000000000E5')

type World = { readonly chain: LocalChain; readonly usdc: Address; readonly dai: Address; readonly vault: Address }

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('world', { scope: 'file' }, async ({}, { onCleanup }): Promise<World> => {
    const chain = await startChain({ chainId: 8453 })
    onCleanup(chain.stop)
    const usdc = await deployToken(chain, { name: 'USD Coin', symbol: 'USDC', decimals: 6 })
    const dai = await deployToken(chain, { name: 'Dai', symbol: 'DAI', decimals: 18 })
    const vault = await deployYieldVault(chain, { asset: usdc, name: 'Cove', symbol: 'cv' })
    const admin = ACCOUNTS.admin.address
    await transact(chain, [
      buildTransaction(admin, usdc, 'mint', [ALICE, 5_000_000n]),
      buildTransaction(admin, usdc, 'mint', [BOB, 70n]),
      buildTransaction(admin, dai, 'mint', [BOB, 3n * ETHER]),
      buildTransaction(ALICE, usdc, 'approve', [vault, 2_000_000n]),
      buildTransaction(ALICE, vault, 'deposit', [2_000_000n, ALICE]),
      // The vault gains 1 USDC on 2 USDC, so a share is worth 50 % more.
      buildTransaction(admin, usdc, 'mint', [vault, 1_000_000n]),
    ])
    await callRpc(
      chain,
      Object.values(BROKEN).map((params) => ({ method: 'anvil_setCode', params })),
    )
    return { chain, usdc, dai, vault }
  })
  .extend('wire', async ({ world }, { onCleanup }) => {
    const wire = await startRecordingProxy(world.chain.rpcUrl)
    onCleanup(wire.stop)
    return wire
  })
  .extend('reader', ({ wire }) =>
    createChainReader(
      evmChain(8453) as EvmChain,
      createRpc([wire.url], { fetch, random: () => 0, now: () => performance.now() }),
    ),
  )

function listed(...addresses: string[]): ListedToken[] {
  return addresses.map((address) => ({
    chain: 'base-mainnet',
    address,
    symbol: 'ANY',
    name: 'Any',
    decimals: 6,
    coinKey: '',
    logoUrl: '',
    coinGeckoId: '',
  }))
}

function numbered(i: number): Address {
  return getAddress(`0x${i.toString(16).padStart(40, '0')}`)
}

async function etherOf({ chain }: World, wallet: Address): Promise<bigint> {
  const [balance] = await callRpc(chain, [{ method: 'eth_getBalance', params: [wallet, 'latest'] }])
  return BigInt(balance as Hex)
}

describe('The balance of wallets on an EVM chain', () => {
  test('is the coin, the listed tokens and the shares of each wallet', async ({ world, reader }) => {
    const { usdc, dai, vault } = world
    const vaults = [someVault({ address: vault, shareToken: vault, asset: usdc, shareDecimals: 6 })]
    const wallets = [ALICE, BOB, NOBODY]
    const balances = await readEvmBalances(reader, wallets, listed('native', usdc, dai, usdc), vaults)
    // The value is rounded down, because OpenZeppelin's vaults add one virtual share to the supply.
    const share = { symbol: 'cv', price: 1_499_999n }
    expect(balances).toEqual([
      {
        native: await etherOf(world, ALICE),
        tokens: { [usdc]: { balance: 3_000_000n } },
        shares: { [vault]: { ...share, balance: 2_000_000n } },
        unread: [],
      },
      {
        native: await etherOf(world, BOB),
        tokens: { [usdc]: { balance: 70n }, [dai]: { balance: 3n * ETHER } },
        shares: { [vault]: { ...share, balance: 0n } },
        unread: [],
      },
      { native: 0n, tokens: {}, shares: { [vault]: { ...share, balance: 0n } }, unread: [] },
    ])
  })

  test('is unknown, and not zero, for a contract that does not report it', async ({ world: { usdc }, reader }) => {
    const { reverts, burns, answersOneByte } = BROKEN
    const broken = [reverts[0], burns[0], answersOneByte[0], NO_CONTRACT]
    expect(await readEvmBalances(reader, [ALICE], listed(...broken, usdc), [])).toMatchObject([
      { tokens: { [usdc]: { balance: 3_000_000n } }, unread: broken },
    ])
  })

  test("is known for tokens despite a broken vault, and for a vault's shares without a price", async ({
    world: { usdc },
    reader,
  }) => {
    const [burns] = BROKEN.burns
    const broken = someVault({ address: burns, shareToken: burns })
    const priceless = someVault({ address: BROKEN.reverts[0], shareToken: usdc })
    const [read] = await readEvmBalances(reader, [ALICE], listed(usdc), [broken, priceless])
    expect(read).toMatchObject({ tokens: { [usdc]: { balance: 3_000_000n } }, unread: [burns] })
    expect(read?.shares).toEqual({ [usdc]: { balance: 3_000_000n, price: null, symbol: 'USDC' } })
  })

  test('is known for tokens if the node does not run the call for the vaults', async ({
    world: { usdc, vault },
    wire,
    reader,
  }) => {
    wire.rewrite = (answer) => {
      const [first] = JSON.parse(answer)
      return JSON.stringify([first, { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'out of gas' } }])
    }
    const vaults = [someVault({ address: vault, shareToken: vault })]
    expect(await readEvmBalances(reader, [ALICE], listed(usdc), vaults)).toMatchObject([
      { tokens: { [usdc]: { balance: 3_000_000n } }, shares: {}, unread: [vault] },
    ])
  })

  test.for([
    ['five wallets', 5, 1],
    ['twenty wallets, more than one call allows,', 20, 3],
  ] as const)(
    'of %s is read with one eth_call for each wallet and vault, all in parallel',
    async ([, count, requests], { world: { usdc, vault }, wire, reader }) => {
      const wallets = Array.from({ length: count }, (_, i) => numbered(i + 1))
      const tokens = Array.from({ length: 300 }, (_, i) => numbered(i + 1_000))
      const vaults = [vault, usdc].map((address) => someVault({ address, shareToken: address }))
      const reading = readEvmBalances(reader, wallets, listed(...tokens, usdc), vaults)
      let release = () => {}
      wire.hold = new Promise<void>((resolve) => {
        release = resolve
      })
      await expect
        .poll(() => wire.bodies.length)
        .toBe(requests)
        .finally(release)
      await reading
      const calls = listRpcCalls(wire)
      expect(calls).toHaveLength(requests)
      expect(calls.flat().map(({ method }) => method)).toEqual(Array(count + 2).fill('eth_call'))
    },
  )

  test.for(CHAIN_FAILURES)('fails when the chain does %s', async ([behaviour, code], { wire, reader }) => {
    wire.behaviour = behaviour
    await expect(readEvmBalances(reader, [ALICE], listed(NOBODY), [])).rejects.toMatchObject({ code })
  })
})
