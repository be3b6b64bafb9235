import { type Address, type Hex, keccak256, numberToHex, pad, toFunctionSelector, toHex } from 'viem'
import { describe, expect } from 'vitest'
import * as z from 'zod'
import { describeFailure, runCommandLine } from '../../../admin/command-line.ts'
import { localAdmin } from '../../../admin/connect.ts'
import { buildItem } from '../../../lib/aws/table.ts'
import { vaultPartition } from '../../../lib/vaults/vault.ts'
import type { Backends } from '../../../sandbox/backends.ts'
import { deployYieldVault } from '../../../sandbox/deploy.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import {
  BLOCK_NUMBER_SELECTOR,
  createReturnDataChange,
  type ResultChange,
  type RpcCall,
  rewriteResults,
} from '../../support/chain-answers.ts'
import { createDepositJourney } from '../../support/cross-chain.ts'
import { expectError } from '../../support/errors.ts'
import { overrideStorage } from '../../support/lies.ts'
import { captureLogs } from '../../support/logs.ts'
import { finalizeBlocks, recordsOf, runRefreshChain } from '../../support/records.ts'
import { test as base, type Service, startNewContainers, USERS } from '../../support/service.ts'
import { expectSuccess, openLagoonVault, openYieldVault, ROLES, type TestVault } from '../../support/vaults.ts'
import { type RecordingProxy, startRecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB] = USERS
const BASE = 8453
const AMOUNT = 1_000_000n

const slotOf = (name: string): Hex => numberToHex(BigInt(keccak256(toHex(name))) - 1n, { size: 32 })
const IMPLEMENTATION = slotOf('eip1967.proxy.implementation')

async function operate({ backends }: { backends: Pick<Backends, 'admin'> }, ...args: string[]): Promise<string> {
  const lines = await runCommandLine(args, async () => backends.admin).catch((error: unknown) => [
    describeFailure(error),
  ])
  return lines.join('\n')
}
const placeOf = ({ chain, address }: TestVault) => ['--chain', `${chain.chainId}`, '--address', address]
/**
 * Confirms the vault's current code and price, like an operator after a review. The service then refuses changed code
 * and outlier prices.
 */
async function confirm(service: Parameters<typeof operate>[0], vault: TestVault): Promise<string> {
  const shown = await operate(service, 'confirm-vault', ...placeOf(vault))
  const [, digest] = /--confirm (\w+)/.exec(shown) ?? []
  return digest ? operate(service, 'confirm-vault', ...placeOf(vault), '--confirm', digest) : shown
}

const runJob = async ({ chain }: TestVault) => (await runRefreshChain(chain.chainId)) as { changedVaults?: number }

async function openPinned<V extends TestVault>(service: Service, opening: Promise<V>): Promise<V> {
  const vault = await opening
  expect(await confirm(service, vault)).toContain('Pinned as it is now')
  return vault
}

const rpc = (vault: TestVault, method: string, ...params: unknown[]) => callRpc(vault.chain, [{ method, params }])
const setCode = (vault: TestVault, address: Address, code: Hex) => rpc(vault, 'anvil_setCode', address, code)
const store = (vault: TestVault, slot: Hex, address: Address, of = vault.address) =>
  rpc(vault, 'anvil_setStorageAt', of, slot, pad(address))
const addressIn = (word: unknown): Address => `0x${String(word).slice(26)}`

let deployed = 0xc0de
async function deploy(vault: TestVault, code: Hex): Promise<Address> {
  deployed += 1
  const address = numberToHex(deployed, { size: 20 })
  await setCode(vault, address, code)
  return address
}

const codeReturning = (address: Address): Hex => `0x73${address.slice(2)}5f5260205ff3`

/**
 * Opens a vault whose code comes from a beacon contract. `good` and `evil` are two implementations that the beacon
 * can return.
 */
async function beaconOf(service: Service) {
  const vault = await openLagoonVault(service, { generation: '0.5', hasBeacon: true })
  const [word] = await rpc(vault, 'eth_getStorageAt', vault.address, slotOf('eip1967.proxy.beacon'), 'latest')
  const beacon = addressIn(word)
  const readImplementation = async () =>
    addressIn((await rpc(vault, 'eth_call', { to: beacon, data: toFunctionSelector('implementation()') }, 'latest'))[0])
  const good = await readImplementation()
  await vault.upgrade('0.5.1')
  return { vault, beacon, good, evil: await readImplementation() }
}

/** Builds the bytecode of a proxy. It delegates all calls to the contract whose address is in this storage slot. */
const proxyOf = (slot: Hex): Hex => `0x365f5f375f5f365f7f${slot.slice(2)}545af43d5f5f3e6036573d5ffd5b3d5ff3`
const delegationTo = (target: Address): Hex => `0xef0100${target.slice(2)}`
const cloneOf = (target: Address): Hex => `0x363d3d373d3d3d363d73${target.slice(2)}5af43d82803e903d91602b57fd5bf3`

const anotherOf = ({ chain, token }: TestVault) =>
  deployYieldVault(chain, { asset: token, name: 'Another', symbol: 'AN' })

async function openDisguised(service: Service, disguise: (vault: TestVault, target: Address) => Promise<unknown>) {
  const vault = await openYieldVault(service)
  await disguise(vault, await anotherOf(vault))
  return openPinned(service, Promise.resolve(vault))
}

/** Ways in which a vault can delegate to other code. `change` replaces that code. */
const KINDS: Readonly<
  Record<string, (service: Service) => Promise<{ vault: TestVault; change: () => Promise<unknown> }>>
> = {
  'a proxy by ERC-1967': async (service) => {
    const vault = await openPinned(service, openLagoonVault(service, { generation: '0.5' }))
    return { vault, change: () => vault.upgrade('0.5.1') }
  },
  'a proxy with a beacon': async (service) => {
    const vault = await openPinned(service, openLagoonVault(service, { generation: '0.5', hasBeacon: true }))
    return { vault, change: () => vault.upgrade('0.5.1') }
  },
  'a proxy by ERC-1822': async (service) => {
    const slot = keccak256(toHex('PROXIABLE'))
    const vault = await openDisguised(service, async (vault, target) => {
      await setCode(vault, vault.address, proxyOf(slot))
      await store(vault, slot, target)
    })
    return { vault, change: async () => store(vault, slot, await anotherOf(vault)) }
  },
  'a proxy older than these standards': async (service) => {
    const slot = keccak256(toHex('org.zeppelinos.proxy.implementation'))
    const vault = await openDisguised(service, async (vault, target) => {
      await setCode(vault, vault.address, proxyOf(slot))
      await store(vault, slot, target)
    })
    return { vault, change: async () => store(vault, slot, await anotherOf(vault)) }
  },
  'an account that delegates': async (service) => {
    const vault = await openDisguised(service, (vault, target) => setCode(vault, vault.address, delegationTo(target)))
    return { vault, change: async () => setCode(vault, vault.address, delegationTo(await anotherOf(vault))) }
  },
  'a clone of an account that delegates': async (service) => {
    let account: Address | undefined
    const vault = await openDisguised(service, async (vault, target) => {
      account = await deploy(vault, delegationTo(target))
      await setCode(vault, vault.address, cloneOf(account))
    })
    return { vault, change: async () => setCode(vault, account as Address, delegationTo(await anotherOf(vault))) }
  },
  'code that delegates its calls to a slot of ERC-1967 only if it is set': async (service) => {
    const vault = await openDisguised(service, (vault, target) =>
      setCode(
        vault,
        vault.address,
        `0x365f5f375f5f365f7f${IMPLEMENTATION.slice(2)}54806044575073${target.slice(2)}5b5af43d5f5f3e6051573d5ffd5b3d5ff3`,
      ),
    )
    return { vault, change: async () => store(vault, IMPLEMENTATION, await anotherOf(vault)) }
  },
  'a proxy with a beacon that is a proxy': async (service) => {
    const { vault, beacon, good } = await beaconOf(service)
    const [first, second] = [await deploy(vault, codeReturning(good)), await deploy(vault, codeReturning(good))]
    await setCode(vault, beacon, proxyOf(IMPLEMENTATION))
    await store(vault, IMPLEMENTATION, first, beacon)
    await openPinned(service, Promise.resolve(vault))
    return { vault, change: () => store(vault, IMPLEMENTATION, second, beacon) }
  },
  'a proxy with a beacon that returns other code only to it': async (service) => {
    const { vault, beacon, good, evil } = await beaconOf(service)
    const [first, second] = [
      await deploy(vault, codeReturning(good)),
      await deploy(
        vault,
        `0x73${vault.address.slice(2)}3314603557${codeReturning(good).slice(2)}5b${codeReturning(evil).slice(2)}`,
      ),
    ]
    const slot = keccak256(toHex('beacon.logic'))
    await setCode(vault, beacon, proxyOf(slot))
    await store(vault, slot, first, beacon)
    await openPinned(service, Promise.resolve(vault))
    return { vault, change: () => store(vault, slot, second, beacon) }
  },
}

const test = base.extend('other', async ({ service }, { onCleanup }) => {
  const wire = await startRecordingProxy(service.backends.chains[0]?.rpcUrl as string)
  onCleanup(wire.stop)
  return wire
})

describe('A deposit into a vault with changed code is refused until an operator confirms it:', () => {
  test.for(Object.keys(KINDS))('%s', async (kind, { service }) => {
    const { vault, change } = await (KINDS[kind] as (typeof KINDS)[string])(service)
    expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
    await change()
    expectError(await vault.deposit(ALICE, AMOUNT), 'vault_has_changed')
    await confirm(service, vault)
    expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
  })
})

test('A vault has changed once its contract has no code or its account no longer delegates', async ({ service }) => {
  const contract = await openPinned(service, openYieldVault(service))
  const account = await openDisguised(service, (vault, target) => setCode(vault, vault.address, delegationTo(target)))
  const before = (await runJob(contract)).changedVaults ?? 0
  await contract.destroy()
  await account.destroy()
  for (const vault of [contract, account]) {
    expectError(await vault.deposit(ALICE, AMOUNT), 'vault_has_changed')
    expect(await confirm(service, vault)).toContain(`There is no code at ${vault.address}`)
  }
  expect((await runJob(contract)).changedVaults).toBe(before + 2)
})

test('A deposit into a vault whose beacon no longer reports its implementation is refused', async ({ service }) => {
  const { vault, beacon, good } = await beaconOf(service)
  await setCode(vault, beacon, codeReturning(good))
  await openPinned(service, Promise.resolve(vault))
  expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
  await setCode(vault, beacon, '0x5f5ffd')
  expectError(await vault.deposit(ALICE, AMOUNT), 'upstream_bad_answer')
})

test('A pin of the older form, with code hashes, is still valid', async ({ service }) => {
  const vault = await openPinned(service, openLagoonVault(service, { generation: '0.5' }))
  const key = { pk: vaultPartition({ chainId: BASE, address: vault.address }), sk: 'PIN' }
  const [item] = await service.tables.deposits.getMany(z.looseObject({ code: z.array(z.looseObject({})) }), [key])
  const code = item?.code.map((one) => ({ ...one, codeHash: `0x${'c0'.repeat(32)}` }))
  await service.tables.deposits.putMany([buildItem(z.looseObject({}), key, { ...item, code })])
  const { service: cold, stop } = await startNewContainers(service)
  const ask = () =>
    cold.call('POST', '/defi-vaults/v1/defi/vault/deposit', {
      key: vault.key,
      body: { vaultAddress: vault.address, amount: `${AMOUNT}`, userAddress: ALICE.address },
    })
  expect((await ask()).status).toBe(200)
  await vault.upgrade('0.5.1')
  expectError(await ask(), 'vault_has_changed')
  await stop()
})

test('A vault whose beacon does not report its implementation cannot be pinned, and the operator sees why', async ({
  service,
}) => {
  const vault = await openYieldVault(service)
  await store(vault, slotOf('eip1967.proxy.beacon'), vault.token)
  expect(await confirm(service, vault)).toContain('does not return its implementation')
  expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
})

test('The error of a changed vault comes before its other errors', async ({ service }) => {
  const vault = await openPinned(service, openLagoonVault(service, { generation: '0.5' }))
  await vault.act(ROLES.admin, 'pause')
  expectError(await vault.deposit(ALICE, AMOUNT), 'vault_is_paused')
  await vault.upgrade('unknown')
  expectError(await vault.deposit(ALICE, AMOUNT), 'vault_has_changed')
  const destroyed = await openPinned(service, openYieldVault(service))
  await destroyed.destroy()
  expectError(await destroyed.deposit(ALICE, AMOUNT), 'vault_has_changed')
})

test('Claims, withdrawals and cancellations of a changed vault still work', async ({ service }) => {
  const vault = await openPinned(service, openLagoonVault(service, { generation: '0.5' }))
  await vault.request(ALICE.address, AMOUNT)
  await vault.settle()
  await vault.request(BOB.address, AMOUNT)
  await vault.upgrade('0.5.1')
  await runJob(vault)
  expectError(await vault.deposit(ALICE, AMOUNT), 'vault_has_changed')
  expectSuccess(await vault.send(ALICE, await vault.claim(ALICE)))
  expectSuccess(await vault.send(ALICE, await vault.withdraw(ALICE, { max: true })))
  expectSuccess(await vault.send(BOB, await vault.cancel(BOB)))
})

test('A deposit from another chain into a changed vault is refused', async ({ service }) => {
  const vault = await openPinned(service, openLagoonVault(service, { generation: '0.5' }))
  const journey = createDepositJourney(vault, service)
  expect((await journey.ask(ALICE, 50n * AMOUNT)).status).toBe(200)
  await vault.upgrade('0.5.1')
  expectError(await journey.ask(ALICE, 50n * AMOUNT), 'vault_has_changed')
  await confirm(service, vault)
  expect((await journey.ask(ALICE, 50n * AMOUNT)).status).toBe(200)
})

describe('Once the job has seen that a vault has changed,', () => {
  const listed = async (service: Service, vault: TestVault, key = vault.key) =>
    (await (await startNewContainers(service)).service.call('GET', '/defi-vaults/v1/vaults', { key })).body.data[0]
  const hasChanged = async (...args: Parameters<typeof listed>) => (await listed(...args)).hasChanged

  test('the vault keeps the time of its last confirmation', async ({ service }) => {
    const vault = await openPinned(service, openLagoonVault(service, { generation: '0.5' }))
    const { pinnedAt } = await listed(service, vault)
    expect(Date.parse(pinnedAt)).not.toBeNaN()
    await vault.upgrade('0.5.1')
    await runJob(vault)
    expect(await listed(service, vault)).toMatchObject({ hasChanged: true, pinnedAt })
    await confirm(service, vault)
    expect(Date.parse((await listed(service, vault)).pinnedAt)).toBeGreaterThan(Date.parse(pinnedAt))
  })

  test('its report counts the vault, and all its clients see the change, until it is confirmed', async ({
    service,
  }) => {
    const vault = await openPinned(service, openLagoonVault(service, { generation: '0.5' }))
    const second = await service.createClient([{ chainId: BASE, address: vault.address }])
    const before = (await runJob(vault)).changedVaults ?? 0
    expect(await hasChanged(service, vault)).toBe(false)
    await vault.upgrade('0.5.1')
    const { lines } = captureLogs()
    expect((await runJob(vault)).changedVaults).toBe(before + 1)
    const differences = { pointsToPinned: false, beyond: 'same', pinnedPrice: '1000000', price: '1000000' }
    expect(lines).toContainEqual(expect.objectContaining({ vault: vault.address, ...differences }))
    expect((await runJob(vault)).changedVaults).toBe(before + 1)
    expect(await hasChanged(service, vault)).toBe(true)
    expect(await hasChanged(service, vault, second)).toBe(true)
    await confirm(service, vault)
    expect((await runJob(vault)).changedVaults).toBe(before)
    expect(await hasChanged(service, vault, second)).toBe(false)
  })

  test('deposits stay refused although the change is undone', async ({ service }) => {
    const vault = await openPinned(service, openYieldVault(service))
    await store(vault, IMPLEMENTATION, vault.token)
    await runJob(vault)
    await store(vault, IMPLEMENTATION, '0x')
    const cold = await startNewContainers(service)
    expectError(
      await cold.service.call('POST', '/defi-vaults/v1/defi/vault/deposit', {
        key: vault.key,
        body: { vaultAddress: vault.address, amount: `${AMOUNT}`, userAddress: ALICE.address },
      }),
      'vault_has_changed',
    )
    await cold.stop()
  })
})

function adminAt({ backends }: Service, ...[url, ...others]: [string, ...string[]]) {
  const { dynamo, providers, queues } = backends
  const admin = localAdmin({
    dynamo: dynamo.connection,
    sharedNow: Date.now,
    providersUrl: providers.url,
    deliveryQueueUrl: queues.urls.deliveryQueue,
    tables: dynamo.tableNames,
    chains: [{ chainId: BASE, rpcUrl: url, nodeUrls: [url, ...others] }],
  })
  return { backends: { admin } }
}

test('A pin needs two nodes as well, and the operator sees if there is only one', async ({ service, other }) => {
  const vault = await openLagoonVault(service, { generation: '0.5' })
  overrideStorage(other, { [vault.address.toLowerCase()]: { [IMPLEMENTATION]: pad('0x') } })
  const two = adminAt(service, other.url, vault.chain.rpcUrl)
  const [, client = ''] = /client (\w+)/.exec(await operate(two, 'create-client', '--name', 'Two')) ?? []
  for (const command of [['confirm-vault'], ['add-vault', '--client', client]]) {
    expect(await operate(two, ...command, ...placeOf(vault))).toContain('Nodes disagree')
    expect(await operate(adminAt(service, vault.chain.rpcUrl), ...command, ...placeOf(vault))).toContain(
      'Only one node',
    )
  }
  other.reset()
  expect(await operate(two, 'confirm-vault', ...placeOf(vault))).not.toContain('Only one node')
})

describe('The first reported block of a vault needs two nodes: add-vault with one that claims', () => {
  test.for([
    ['a block that does not exist yet', 10 ** 9],
    ['an old block', 1],
  ] as const)('%s, as that of the price or as its head', async ([, number], { service, other }) => {
    const vault = await openYieldVault(service)
    const of = ['--client', vault.key.split('_')[2] ?? '', ...placeOf(vault)]
    await finalizeBlocks(vault.chain)
    // Healthy nodes may be some seconds apart, which is about 25 blocks of Base. 64 blocks are mined, so that block 1
    // is even older.
    await rpc(vault, 'anvil_mine', '0x40')
    const [head] = await rpc(vault, 'eth_blockNumber')
    const far = numberToHex(number, { size: 32 })
    const inCall = createReturnDataChange((data, selector) => (selector === BLOCK_NUMBER_SELECTOR ? far : data))
    // The node changes only the call that reads the price. Earlier calls, which recognize the kind of vault, stay
    // unchanged.
    const names = ['convertToAssets(uint256)', 'maxDeposit(address)', 'balanceOf(address)'] as const
    const [price, ...others] = names.map((name) => toFunctionSelector(name).slice(2)) as [string, ...string[]]
    const ofPrice: ResultChange = (result, call) => {
      const params = JSON.stringify(call.params)
      return params.includes(price) && !others.some((other) => params.includes(other)) ? inCall(result, call) : result
    }
    const ofHead: ResultChange = (result, { method, params: [block] }) =>
      method === 'eth_getBlockByNumber' && block === 'latest'
        ? { ...(result as object), number: numberToHex(number) }
        : result
    for (const lie of [ofPrice, ofHead, (result: unknown, call: RpcCall) => ofHead(ofPrice(result, call), call)]) {
      rewriteResults(other, lie)
      for (const nodes of [
        [other.url, vault.chain.rpcUrl],
        [vault.chain.rpcUrl, other.url],
      ] as const) {
        await operate(service, 'remove-vault', ...of)
        const said = await operate(adminAt(service, ...nodes), 'add-vault', ...of, '--first-block', '1')
        const [progress] = await recordsOf(service).getProgress([{ chainId: BASE, address: vault.address }])
        const outcome = said.includes('Pinned since') ? progress?.eventsAfter : said.split('.')[0]
        expect([Number(head), 'Nodes disagree']).toContain(outcome)
      }
    }
  })
})

test('A confirmation holds for the shown state, its price within a tenth, and names unknown proxies', async ({
  service,
}) => {
  const vault = await openYieldVault(service)
  await vault.mint(BOB.address, 100n * AMOUNT)
  await vault.approve(BOB.address, 100n * AMOUNT)
  await vault.act(BOB.address, 'deposit', 100n * AMOUNT, BOB.address)
  const shown = await operate(service, 'confirm-vault', ...placeOf(vault))
  expect(shown).toContain('not a proxy of a known kind')
  const [, digest = ''] = /--confirm (\w+)/.exec(shown) ?? []
  await vault.mint(vault.address, AMOUNT / 10n)
  expect(await operate(service, 'confirm-vault', ...placeOf(vault), '--confirm', digest)).toContain('deposits go on')
  await vault.mint(vault.address, 20n * AMOUNT)
  expect(await operate(service, 'confirm-vault', ...placeOf(vault), '--confirm', digest)).toContain(
    'has changed since it was shown',
  )
})

test('A vault without a pin takes deposits whatever changes, and is listed as not pinned', async ({ service }) => {
  const vault = await openLagoonVault(service, { generation: '0.5' })
  await vault.upgrade('0.5.1')
  await runJob(vault)
  expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
  expect((await vault.list()).body.data[0].hasChanged).toBeNull()
  expect(await operate(service, 'confirm-vault', ...placeOf(vault))).toContain('Nothing of it is pinned')
})

describe('A share price', () => {
  async function filled(service: Service, amount: bigint): Promise<TestVault> {
    const vault = await openYieldVault(service)
    await vault.mint(BOB.address, amount)
    await vault.approve(BOB.address, amount)
    await vault.act(BOB.address, 'deposit', amount, BOB.address)
    return openPinned(service, Promise.resolve(vault))
  }
  const donate = (vault: TestVault, amount: bigint) => vault.mint(vault.address, amount)

  test.for([
    ['more', 11n],
    ['less', -11n],
  ] as const)(
    'that is over a tenth %s in one block stops deposits until it is confirmed',
    async ([, percent], { service }) => {
      const vault = await openPinned(service, openLagoonVault(service, { generation: '0.5' }))
      await vault.request(BOB.address, 100n * AMOUNT)
      await vault.settle()
      expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
      const valuation = (100n + percent) * AMOUNT
      await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', valuation)
      await vault.act(ROLES.safe, 'settleDeposit', valuation)
      expectError(await vault.deposit(ALICE, AMOUNT), 'vault_has_changed')
      expect((await runJob(vault)).changedVaults).toBeGreaterThan(0)
      await confirm(service, vault)
      expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
    },
  )

  test('that a donation raises in one block stops deposits', async ({ service }) => {
    const vault = await filled(service, 100n * AMOUNT)
    await donate(vault, 9n * AMOUNT)
    expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
    await donate(vault, 2n * AMOUNT)
    expectError(await vault.deposit(ALICE, AMOUNT), 'vault_has_changed')
  })

  test('that grows by much more than a tenth over many blocks stops nothing', async ({ service }) => {
    const vault = await filled(service, 100n * AMOUNT)
    for (let day = 0; day < 5; day += 1) {
      await donate(vault, 9n * AMOUNT)
      await runJob(vault)
    }
    expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
  })

  test('that grows alike in eleven vaults stops no deposits', async ({ service }) => {
    const vaults: TestVault[] = []
    while (vaults.length < 11) vaults.push(await filled(service, 100n * AMOUNT))
    for (let minute = 0; minute < 2; minute += 1) {
      for (const vault of vaults) await donate(vault, 6n * AMOUNT)
      await runJob(vaults[0] as TestVault)
    }
    const answers = await Promise.all(vaults.map((vault) => vault.deposit(ALICE, AMOUNT)))
    expect(answers.map(({ status }) => status)).toEqual(vaults.map(() => 200))
  })

  test('that a donation inflates in a nearly empty vault stops deposits, as in an inflation attack', async ({
    service,
  }) => {
    const vault = await filled(service, 1n)
    await donate(vault, 10_000n * AMOUNT)
    expectError(await vault.deposit(ALICE, AMOUNT), 'vault_has_changed')
  })

  test('that rounding changes in a vault of three units stops nothing', async ({ service }) => {
    const vault = await filled(service, 3n)
    await donate(vault, 2n)
    expect(await vault.read('convertToAssets', 10n ** 6n)).not.toBe(10n ** 6n)
    expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
    await runJob(vault)
    expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
  })

  test('of an empty vault does not stop its first deposits', async ({ service }) => {
    const vault = await openPinned(service, openYieldVault(service))
    for (const user of [ALICE, BOB]) {
      await vault.mint(user.address, AMOUNT)
      expectSuccess(await vault.send(user, await vault.deposit(user, AMOUNT)))
      await runJob(vault)
    }
    await vault.act(ALICE.address, 'redeem', AMOUNT, ALICE.address, ALICE.address)
    await vault.act(BOB.address, 'redeem', AMOUNT, BOB.address, BOB.address)
    await runJob(vault)
    await vault.mint(ALICE.address, AMOUNT)
    expectSuccess(await vault.send(ALICE, await vault.deposit(ALICE, AMOUNT)))
  })
})

describe('The check that a vault has not changed', () => {
  const readingAt = async (service: Service, ...wires: RecordingProxy[]) => {
    const [first, ...others] = wires.map(({ url }) => url)
    service.backends.setRpcUrls({ [BASE]: [first as string, ...others] })
    const { service: cold } = await startNewContainers(service)
    return (vault: TestVault) =>
      cold.call('POST', '/defi-vaults/v1/defi/vault/deposit', {
        key: vault.key,
        body: { vaultAddress: vault.address, amount: `${AMOUNT}`, userAddress: ALICE.address },
      })
  }

  test('needs two nodes', async ({ service, other }) => {
    const vault = await openPinned(service, openLagoonVault(service, { generation: '0.5' }))
    const [before] = await rpc(vault, 'eth_getStorageAt', vault.address, IMPLEMENTATION, 'latest')
    await vault.upgrade('0.5.1')
    overrideStorage(other, { [vault.address.toLowerCase()]: { [IMPLEMENTATION]: before as Hex } })
    const honest = service.rpc[BASE] as RecordingProxy
    expect((await (await readingAt(service, other))(vault)).status).toBe(200)
    for (const wires of [
      [honest, other],
      [other, honest],
    ]) {
      expectError(await (await readingAt(service, ...wires))(vault), 'nodes_disagree')
    }
  })

  test('fails if a node does not return the code of an account', async ({ service }) => {
    const wire = service.rpc[BASE] as RecordingProxy
    const vault = await openDisguised(service, (vault, target) => setCode(vault, vault.address, delegationTo(target)))
    expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
    rewriteResults(wire, (result, { method }) => (method === 'eth_getCode' ? null : result))
    expectError(await vault.deposit(ALICE, AMOUNT), 'upstream_bad_answer')
  })

  test('takes no extra round trip, neither to the chain nor to the table', async ({ service }) => {
    const vault = await openPinned(service, openLagoonVault(service, { generation: '0.5' }))
    await vault.deposit(ALICE, AMOUNT)
    const wire = service.rpc[BASE] as RecordingProxy
    wire.bodies.length = 0
    service.table.tries.length = 0
    expect((await vault.deposit(ALICE, AMOUNT)).status).toBe(200)
    expect(wire.bodies).toHaveLength(1)
    expect(service.table.tries.map(({ body }) => body).filter((body) => body.includes('PIN'))).toEqual([])
    // The batch has six calls: the vault's functions and storage (2), dry runs (3), and the block header (1).
    expect(JSON.parse(wire.bodies[0] as string)).toHaveLength(6)

    const behindBeacon = await openPinned(service, openLagoonVault(service, { generation: '0.5', hasBeacon: true }))
    await behindBeacon.deposit(ALICE, AMOUNT)
    wire.bodies.length = 0
    expect((await behindBeacon.deposit(ALICE, AMOUNT)).status).toBe(200)
    // Two batches run in parallel. The smaller one reads the beacon's storage and the implementation that the beacon
    // returns for the vault.
    expect(wire.bodies.map((body) => JSON.parse(body).length).toSorted()).toEqual([3, 6])
  })
})

test('The command confirm-vault shows what has changed, and pins only with --confirm', async ({ service }) => {
  const vault = await openPinned(service, openLagoonVault(service, { generation: '0.5' }))
  const implementation = async () =>
    `0x${String((await rpc(vault, 'eth_getStorageAt', vault.address, IMPLEMENTATION, 'latest'))[0]).slice(26)}`
  const before = await implementation()
  await vault.upgrade('0.5.1')
  const after = await implementation()
  const shown = await operate(service, 'confirm-vault', ...placeOf(vault))
  for (const address of [before, after]) expect(shown.toLowerCase()).toContain(address)
  expect(shown.split('\n').filter((line) => line.endsWith('changed'))).toHaveLength(1)
  expectError(await vault.deposit(ALICE, AMOUNT), 'vault_has_changed')
  const [, digest = ''] = /--confirm (\w+)/.exec(shown) ?? []
  await vault.upgrade('unknown')
  expect(await operate(service, 'confirm-vault', ...placeOf(vault), '--confirm', digest)).toContain(
    'has changed since it was shown',
  )
  expectError(await vault.deposit(ALICE, AMOUNT), 'vault_has_changed')
  expect(await confirm(service, vault)).toContain('deposits go on')
  const nobodys = ['--chain', `${BASE}`, '--address', ROLES.admin]
  expect(await operate(service, 'confirm-vault', ...nobodys)).toContain('No client has a vault')
})
