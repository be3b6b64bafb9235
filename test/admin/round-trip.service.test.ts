import { type Address, encodeFunctionData, erc20Abi, parseAbi } from 'viem'
import { readContract } from 'viem/actions'
import { describe, expect } from 'vitest'
import { describeFailure, runCommandLine } from '../../admin/command-line.ts'
import { localAdmin } from '../../admin/connect.ts'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import { settleRequests } from '../../sandbox/curator.ts'
import {
  type AsyncVaultKind,
  deployAsyncVault,
  deployLagoonVault,
  deployYieldVault,
  type LagoonVaultOptions,
  type YieldVaultKind,
} from '../../sandbox/deploy.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { transact } from '../../sandbox/transactions.ts'
import { rewriteResults } from '../support/chain-answers.ts'
import { createChainClient } from '../support/chain-client.ts'
import { WETH } from '../support/oracles.ts'
import { test as base, type Service } from '../support/service.ts'
import { startRecordingProxy } from '../support/wire.ts'

const BASE = 8453
const ABI = parseAbi([
  'function pause()',
  'function silo() view returns (address)',
  'function setDepositCap(uint256 cap)',
  'function setLie(uint8 lie)',
  'function updateTotalAssetsLifespan(uint128 lifespan)',
])

/** Tests in which `add-vault` adds new vaults on the chain Base to a new client. */
const test = base
  .extend('sandbox', ({ service }) => {
    const chain = service.backends.chains.find(({ chainId }) => chainId === BASE)
    if (!chain) throw new Error('There is no Base.')
    const assetOf = (symbol: string) => {
      const asset = symbol === 'WETH' ? WETH[BASE] : chain.tokens.find((token) => token.symbol === symbol)?.address
      if (!asset) throw new Error(`There is no ${symbol}.`)
      return asset
    }
    const named = { name: 'Tried', symbol: 'TRY' }
    const call = (
      from: Address,
      to: Address,
      functionName: Exclude<(typeof ABI)[number]['name'], 'silo'>,
      ...args: readonly unknown[]
    ) =>
      // The cast is needed because viem types each function separately.
      transact(chain, [
        { label: functionName, from, to, data: encodeFunctionData({ abi: ABI, functionName, args } as never) },
      ])
    return {
      chain,
      assetOf,
      yieldVault: (make: YieldVaultKind, symbol = 'USDC') =>
        deployYieldVault(chain, { make, asset: assetOf(symbol), ...named }),
      asyncVault: (make: AsyncVaultKind) => deployAsyncVault(chain, { make, asset: assetOf('USDC'), ...named }),
      lagoonVault: (options: Omit<LagoonVaultOptions, 'asset' | 'name' | 'symbol'>) =>
        deployLagoonVault(chain, { ...options, asset: assetOf('USDC'), ...named }),
      call,
    }
  })
  .extend('add', ({ service }) => async (address: Address, ...flags: string[]) => {
    return await addTo(service, service.backends, address, ...flags)
  })

/** Runs `add-vault`. Returns the command's output, and the vault as stored for the client. */
async function addTo(
  service: Service,
  { admin }: Pick<Service['backends'], 'admin'>,
  address: Address,
  ...flags: string[]
) {
  const operate = async (...args: string[]) => {
    const lines = await runCommandLine(args, async () => admin).catch((error: unknown) => [describeFailure(error)])
    return lines.join('\n')
  }
  const [, client = ''] = /client (\w+)/.exec(await operate('create-client', '--name', 'Tries vaults')) ?? []
  const said = await operate('add-vault', '--client', client, '--chain', `${BASE}`, '--address', address, ...flags)
  const record = await service.backends.admin.clients.get(client)
  return { said, vault: record?.client.vaults[0] }
}

/** Parses the table of the simulated deposit and withdrawal in the command's output: kind, function and fee of each. */
function tripIn(said: string): string[][] {
  return said
    .split('\n')
    .filter((line) => /^(deposit|withdrawal) /.test(line))
    .map((line) => line.split(/ {2,}/).slice(1))
}

const INSTANT = { entry: 'instant', exit: 'instant', entryFee: '0.00', exitFee: '0.00' }
const REQUEST = { entry: 'request', exit: 'request', entryFee: null, exitFee: null }

describe('add-vault simulates a deposit and a withdrawal, then prints and stores the result, for', () => {
  const YIELD_VAULTS: [YieldVaultKind, object, string[][]][] = [
    [
      'plain',
      INSTANT,
      [
        ['instant', 'deposit', '0.00 %'],
        ['instant', 'redeem', '0.00 %'],
      ],
    ],
    [
      'illiquid',
      INSTANT,
      [
        ['instant', 'deposit', '0.00 %'],
        ['instant', 'redeem', '0.00 %'],
      ],
    ],
    [
      'silent',
      INSTANT,
      [
        ['instant', 'deposit', '0.00 %'],
        ['instant', 'redeem', '0.00 %'],
      ],
    ],
    [
      'strict',
      INSTANT,
      [
        ['instant', 'deposit', '0.00 %'],
        ['instant', 'redeem', '0.00 %'],
      ],
    ],
    [
      'exitFee',
      { ...INSTANT, exitFee: '0.50' },
      [
        ['instant', 'deposit', '0.00 %'],
        ['instant', 'redeem', '0.50 %'],
      ],
    ],
    [
      'entryFee',
      { ...INSTANT, entryFee: '0.25', exitFee: '0.50' },
      [
        ['instant', 'deposit', '0.25 %'],
        ['instant', 'redeem', '0.50 %'],
      ],
    ],
  ]
  test.for(YIELD_VAULTS)('a synchronous vault: %s', async ([make, roundTrip, printed], { sandbox, add }) => {
    const { said, vault } = await add(await sandbox.yieldVault(make))
    expect(said).toMatch(/^Round trip, simulated at block \d+ with 100 USDC:$/m)
    expect(tripIn(said)).toEqual(printed)
    expect(vault?.roundTrip).toEqual(roundTrip)
  })

  test.for(['USDC', 'DAI', 'USDT', 'WETH'])('a vault of %s', async (symbol, { sandbox, add }) => {
    const { said, vault } = await add(await sandbox.yieldVault('plain', symbol))
    expect(said).toContain(`with 100 ${symbol}:`)
    expect(vault?.roundTrip).toEqual(INSTANT)
  })

  test.for(['0.1', '0.4', '0.5', '0.5.1', '0.6'] as const)('a Lagoon of %s', async (generation, { sandbox, add }) => {
    const { said, vault } = await add(await sandbox.lagoonVault({ generation }))
    expect(tripIn(said)).toEqual([
      ['request', 'requestDeposit', 'not measured'],
      ['request', 'requestRedeem', 'not measured'],
    ])
    expect(vault?.roundTrip).toEqual(REQUEST)
  })

  test('a Lagoon whose valuation is valid, with fees and a haircut', async ({ sandbox, add }) => {
    const rates = { entryRate: 10, exitRate: 20, haircutRate: 30 }
    const address = await sandbox.lagoonVault({ generation: '0.6', ...rates })
    await sandbox.call(ACCOUNTS.safe.address, address, 'updateTotalAssetsLifespan', 86_400n)
    await settleRequests(sandbox.chain, address, { gain: 0n })
    const { said, vault } = await add(address)
    expect(tripIn(said).map(([, name]) => name)).toEqual(['syncDeposit', 'syncRedeem'])
    // The exit fee of 0.50 % includes the vault's haircut of 0.30 %.
    expect(vault?.roundTrip).toEqual({ ...INSTANT, entryFee: '0.10', exitFee: '0.50' })
  })

  test.for([
    ['aggregated', REQUEST],
    ['counted', REQUEST],
    ['redemptions', { ...REQUEST, entry: 'instant', entryFee: '0.00' }],
    ['syncDeposits', { ...REQUEST, entry: 'instant', entryFee: '0.00' }],
  ] as const)('an ERC-7540 vault: %s', async ([make, roundTrip], { sandbox, add }) => {
    expect((await add(await sandbox.asyncVault(make))).vault?.roundTrip).toEqual(roundTrip)
  })

  test('a vault with little room left', async ({ sandbox, add }) => {
    const address = await sandbox.yieldVault('entryFee')
    await sandbox.call(ACCOUNTS.admin.address, address, 'setDepositCap', 2_500_000n)
    const { said, vault } = await add(address)
    expect(said).toContain('with 2.5 USDC:')
    expect(vault?.roundTrip).toMatchObject({ entryFee: '0.25', exitFee: '0.50' })
  })
})

describe('add-vault refuses a vault and writes nothing, unless the operator accepts it by name', () => {
  test('that cannot pay withdrawals', async ({ sandbox, add }) => {
    const address = await sandbox.yieldVault('noExit')
    const refused = await add(address)
    expect(refused).toEqual({
      said: 'The vault has no way out: redeem reverts with 0x0f2e5b6c; --accept-no-exit adds it.',
      vault: undefined,
    })
    expect((await add(address, '--accept-mixed-up', '--accept-unknown-version')).vault).toBeUndefined()
    const { said, vault } = await add(address, '--accept-no-exit')
    expect(said).toContain('Accepted: The vault has no way out: redeem reverts with 0x0f2e5b6c.')
    expect(tripIn(said)).toEqual([
      ['instant', 'deposit', '0.00 %'],
      ['none', 'not measured'],
    ])
    expect(vault?.roundTrip).toEqual({ ...INSTANT, exit: 'none', exitFee: null })
  })

  /** Error message for each kind of vault that reports false values, in the order of the test contract's enumeration. */
  const LIES = [
    'it previews 100000000 units of shares for a deposit, but 50000000 arrive; --accept-mixed-up',
    'it previews 100000000 units of assets for a withdrawal, but pays 50000000; --accept-mixed-up',
    'it takes a deposit by deposit, but no shares arrive; --accept-mixed-up',
    'it takes a deposit by deposit, but no shares arrive; --accept-mixed-up',
    'it says by ERC-165 that redemptions are requests, but redeem pays immediately; --accept-mixed-up',
    'redeem takes 100000000 units of shares and pays nothing; --accept-no-exit',
  ]
  test.for(LIES.map((problem, index) => [index + 1, problem] as const))(
    'that lies (%i): %s',
    async ([lie, problem], { sandbox, add }) => {
      const address = await sandbox.yieldVault('lying')
      await sandbox.call(ACCOUNTS.admin.address, address, 'setLie', lie)
      const { said, vault } = await add(address)
      expect(said.split('\n')).toContainEqual(
        expect.stringMatching(new RegExp(`^The vault .*: ${problem} adds it\\.$`)),
      )
      expect(vault).toBeUndefined()
      expect((await add(address, '--accept-mixed-up', '--accept-no-exit')).vault?.roundTrip).toBeDefined()
    },
  )

  test('that is a Lagoon of an unknown version', async ({ sandbox, add }) => {
    const address = await sandbox.lagoonVault({ generation: 'unknown' })
    expect(await add(address)).toEqual({
      said: 'The vault is Lagoon v0.7.0, an unknown version, and would be added as erc7540; --accept-unknown-version adds it.',
      vault: undefined,
    })
    const { vault } = await add(address, '--accept-unknown-version')
    expect(vault).toMatchObject({ protocol: 'erc7540', roundTrip: REQUEST })
  })

  test('that pays nothing after its cooldown', async ({ sandbox, add }) => {
    const address = await sandbox.yieldVault('cooldown')
    const silo = await readContract(createChainClient(sandbox.chain), { address, abi: ABI, functionName: 'silo' })
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [address, 0n] })
    for (const [method, ...params] of [
      ['anvil_impersonateAccount', silo],
      ['anvil_setBalance', silo, '0xde0b6b3a7640000'],
      ['eth_sendTransaction', { from: silo, to: sandbox.assetOf('USDC'), data }],
    ] as [string, ...unknown[]][]) {
      await callRpc(sandbox.chain, [{ method, params }])
    }
    expect(await add(address)).toEqual({
      said: expect.stringMatching(
        /^The vault has no way out: unstake after the cooldown .*; --accept-no-exit adds it\.$/,
      ),
      vault: undefined,
    })
  })

  test('but not because of a cooldown', async ({ sandbox, add }) => {
    const { said, vault } = await add(await sandbox.yieldVault('cooldown'))
    expect(tripIn(said)[1]).toEqual(['cooldown', 'cooldownShares', 'not measured'])
    expect(vault?.roundTrip).toEqual({ ...INSTANT, exit: 'cooldown', exitFee: null })
  })
})

describe('add-vault refuses a vault whose withdrawal cannot be simulated, and stores no result if accepted,', () => {
  test('because the vault takes no deposit', async ({ sandbox, add }) => {
    const address = await sandbox.yieldVault('plain')
    await sandbox.call(ACCOUNTS.admin.address, address, 'pause')
    expect(await add(address)).toEqual({
      said: expect.stringMatching(
        /^The way out could not be tried: the vault takes no deposit \(Vault is paused\), and redeem .*; --accept-untried adds it\.$/,
      ),
      vault: undefined,
    })
    const { vault } = await add(address, '--accept-untried')
    expect(vault).toMatchObject({ address })
    expect(vault?.roundTrip).toBeUndefined()
  })

  test('because the nodes do not simulate or ignore made-up balances', async ({ service, sandbox }) => {
    const node = await startRecordingProxy(sandbox.chain.rpcUrl)
    const { dynamo, providers, queues } = service.backends
    const admin = localAdmin({
      dynamo: dynamo.connection,
      sharedNow: Date.now,
      providersUrl: providers.url,
      deliveryQueueUrl: queues.urls.deliveryQueue,
      tables: dynamo.tableNames,
      chains: [{ chainId: BASE, rpcUrl: node.url }],
    })
    const address = await sandbox.yieldVault('plain')
    for (const [answer, why] of [
      [null, 'no node simulates with made-up balances'],
      [
        [{ calls: Array(2).fill({ status: '0x1', gasUsed: '0x1', returnData: `0x${'0'.repeat(64)}` }) }],
        'the storage slot of USDC balances is not known',
      ],
    ] as const) {
      rewriteResults(node, (result, { method }) => (method === 'eth_simulateV1' ? answer : result))
      expect((await addTo(service, { admin }, address)).vault).toBeUndefined()
      const { said, vault } = await addTo(service, { admin }, address, '--accept-untried')
      expect(said).toContain(`: ${why}.\nTry a deposit and a withdrawal by hand.`)
      expect(vault?.roundTrip).toBeUndefined()
      expect(vault).toBeDefined()
    }
    await node.stop()
  })
})
