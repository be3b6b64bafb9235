import { type Address, numberToHex } from 'viem'
import { describe, expect } from 'vitest'
import { handler as refreshChain } from '../../../functions/jobs/refresh-chain/handler.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { checkInterface } from '../../interface/interface.ts'
import {
  BLOCK_NUMBER_SELECTOR,
  BLOCK_TIME_SELECTOR,
  createReturnDataChange,
  createValueChange,
  type ResultChange,
  type RpcCall,
  rewriteResults,
} from '../../support/chain-answers.ts'
import { expectError } from '../../support/errors.ts'
import { someContext } from '../../support/lambda.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import type { RecordingProxy } from '../../support/wire.ts'

const LIST = '/defi-vaults/v1/vaults'
const DEPOSIT = '/defi-vaults/v1/defi/vault/deposit'
const CLAIM = '/defi-vaults/v1/defi/vault/claim'
const [USER] = USERS
const REVERTING = '0x5f5ffd'
const PATIENCE_MS = 4_000

const test = base
  .extend('base', ({ service }) => service.rpc[8453] as RecordingProxy)
  .extend('vaultsOn', ({ service }) => (chainId: number, type: 'async' | 'sync' = 'async') => {
    const chain = service.backends.chains.find((candidate) => candidate.chainId === chainId)
    const addresses = (chain?.vaults ?? []).filter((vault) => vault.type === type).map(({ address }) => address)
    return addresses as [Address, ...Address[]]
  })
  .extend(
    'list',
    ({ service }) =>
      (key?: string) =>
        list(service, key),
  )

/** Requests the list of vaults. Gives up after four seconds, as a wallet would do. */
async function list({ baseUrl, apiKey, pass }: Service, key = apiKey): Promise<{ status: number; vaults: Listed[] }> {
  pass(0.5)
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const response = await fetch(baseUrl + LIST, { headers: { 'x-join-key': key }, signal })
  const body = (await response.json()) as { data: Listed[] }
  checkInterface(`GET ${LIST}`, { status: response.status, body })
  return { status: response.status, vaults: body.data }
}

type Listed = {
  readonly chainId: number
  readonly type: 'async' | 'sync'
  readonly poolAddress: Address
  readonly vaultState?: { readonly totalAssets: string; readonly missing: string[] } | null
  readonly stateAsOf?: { readonly blockNumber: number; readonly timestamp: string; readonly stale: boolean } | null
}

const refresh = (chainId: number): Promise<unknown> => refreshChain({ chainId }, someContext())

function asyncOn(vaults: readonly Listed[], chainId: number): Listed[] {
  return vaults.filter((vault) => vault.chainId === chainId && vault.type === 'async')
}

const askDeposit = (service: Service, vaultAddress: Address) =>
  service.call('POST', DEPOSIT, { body: { vaultAddress, amount: '1000', userAddress: USER.address } })
const askClaim = (service: Service, vaultAddress: Address) =>
  service.call('POST', CLAIM, { body: { vaultAddress, userAddress: USER.address } })
const askStatus = (service: Service, vault: Address) =>
  service.call('GET', `/defi-vaults/v1/defi/vault/${vault}/deposit-status?userAddress=${USER.address}`)

const countOf = ({ backends }: Service, chainId?: number) =>
  backends.chains.filter((chain) => (chainId ?? chain.chainId) === chain.chainId).flatMap(({ vaults }) => vaults).length

test('The vaults of a failing chain have no state before the first record, and report this', async ({
  service,
  base,
  list,
}) => {
  base.behaviour = 'answer 500'
  const { status, vaults } = await list()
  expect({ status, count: vaults.length }).toEqual({ status: 200, count: countOf(service) })
  for (const vault of vaults.filter(({ chainId }) => chainId === 8453)) {
    expect(vault).toMatchObject({ stateAsOf: null, totalAssets: null, annualYield: null })
    expect(vault.vaultState).toBe(vault.type === 'async' ? null : undefined)
  }
  for (const vault of asyncOn(vaults, 42161)) expect(vault.stateAsOf).toMatchObject({ stale: false })
})

describe('When one chain is to', () => {
  test('fail, the list has its last recorded states and the other chain live', async ({ service, base, list }) => {
    await refresh(8453)
    base.behaviour = 'never answer'
    const { status, vaults } = await list()

    expect({ status, count: vaults.length }).toEqual({ status: 200, count: countOf(service) })
    const failing = asyncOn(vaults, 8453)
    const healthy = asyncOn(vaults, 42161)
    expect(failing).toHaveLength(service.backends.chains[0]?.vaults.filter(({ type }) => type === 'async').length ?? 0)
    for (const { stateAsOf, vaultState } of failing) {
      expect(stateAsOf).toMatchObject({ stale: true, blockNumber: expect.any(Number) })
      expect(vaultState).toMatchObject({ totalAssets: expect.stringMatching(/^[1-9]\d+$/), missing: [] })
    }
    for (const { stateAsOf } of healthy) expect(stateAsOf).toMatchObject({ stale: false })
    const synchronous = vaults.filter(({ chainId, type }) => chainId === 8453 && type === 'sync')
    expect(synchronous).toMatchObject([
      { stateAsOf: { stale: true }, totalAssets: expect.stringMatching(/^[1-9]\d+$/) },
    ])
  })

  test('fail, its deposits, claims and statuses are errors, and those of the other chain work', async ({
    service,
    base,
    vaultsOn,
  }) => {
    const [failing] = vaultsOn(8453)
    const [failingSync] = vaultsOn(8453, 'sync')
    const [healthy] = vaultsOn(42161)
    base.behaviour = 'refuse connections'

    const [there, elsewhere] = await Promise.all([
      Promise.all([
        askDeposit(service, failing),
        askDeposit(service, failingSync),
        askClaim(service, failing),
        askStatus(service, failing),
      ]),
      Promise.all([askDeposit(service, healthy), askStatus(service, healthy), askClaim(service, healthy)]),
    ])
    for (const reply of there) expectError(reply, 'upstream_unavailable')
    const [deposit, status, claim] = elsewhere
    expect([deposit.status, status.status]).toEqual([200, 200])
    expectError(claim, 'no_claimable_deposit')
  })

  test('respond after 2 s, the list still has it live', async ({ base, list }) => {
    base.behaviour = 'answer after 2 s'
    const { status, vaults } = await list()
    expect(status).toBe(200)
    for (const { stateAsOf } of [...asyncOn(vaults, 8453), ...asyncOn(vaults, 42161)]) {
      expect(stateAsOf).toMatchObject({ stale: false })
    }
  })

  test('fail, the other works for a client with vaults only there', async ({ service, base, list, vaultsOn }) => {
    const [address] = vaultsOn(42161)
    const key = await service.createClient([{ chainId: 42161, address }])
    base.behaviour = 'never answer'
    const { status, vaults } = await list(key)
    expect(status).toBe(200)
    expect(vaults).toMatchObject([{ stateAsOf: { stale: false } }])
    expect(base.bodies).toEqual([])
  })

  test('fail together with the other, the list has the last recorded states of both', async ({ service, list }) => {
    await Promise.all([refresh(8453), refresh(42161)])
    for (const wire of Object.values(service.rpc)) wire.behaviour = 'answer 500'
    const { status, vaults } = await list()
    expect(status).toBe(200)
    for (const { stateAsOf } of vaults) expect(stateAsOf).toMatchObject({ stale: true })
  })

  test('respond again, everything is live immediately', async ({ service, base, list, vaultsOn }) => {
    base.behaviour = 'answer 500'
    await list()
    base.reset()
    const { vaults } = await list()
    for (const { stateAsOf } of asyncOn(vaults, 8453)) expect(stateAsOf).toMatchObject({ stale: false })
    const [vault] = vaultsOn(8453)
    expect(await askDeposit(service, vault)).toMatchObject({ status: 200 })
  })
})

const ones = (data: string) => `0x${'f'.repeat(data.length - 2)}`
const zeros = (data: string) => `0x${'0'.repeat(data.length - 2)}`

describe('A chain that returns well-formed nonsense', () => {
  const NONSENSE: readonly (readonly [string, ResultChange])[] = [
    ['nothing but ones', (result) => ones(String(result))],
    ['nothing but zeros', (result) => zeros(String(result))],
    ['half of each result', (result) => String(result).slice(0, 2 + Math.floor(String(result).length / 128) * 64)],
    ['empty results', () => '0x'],
    [
      'a huge block number',
      createReturnDataChange((data, selector) => (selector === BLOCK_NUMBER_SELECTOR ? ones(data) : data)),
    ],
    ['a huge time', createReturnDataChange((data, selector) => (selector === BLOCK_TIME_SELECTOR ? ones(data) : data))],
    ['the largest of all values', createValueChange(ones)],
    ['the smallest of all values', createValueChange(zeros)],
    ['no values', createValueChange(() => '0x')],
  ]

  test.for(NONSENSE)(
    '(%s) never causes an internal error',
    async ([, change], { coldService: service, base, vaultsOn }) => {
      const [asyncVault] = vaultsOn(8453)
      const [syncVault] = vaultsOn(8453, 'sync')
      rewriteResults(base, change)

      const { status, vaults } = await list(service)
      expect({ status, count: vaults.length }).toEqual({ status: 200, count: countOf(service) })
      const replies = [
        await askDeposit(service, asyncVault),
        await askDeposit(service, syncVault),
        await askClaim(service, asyncVault),
        await askStatus(service, asyncVault),
      ]
      expect(replies.filter(({ status }) => status === 500 || status === 504)).toEqual([])
    },
  )

  test.for([['0x'], [`0x${'f'.repeat(65)}`], [null]])(
    '(storage words of %j) is a bad upstream response',
    async ([word], { coldService: service, base, vaultsOn }) => {
      base.rewrite = (answer, request) => {
        const calls: RpcCall[] = JSON.parse(request)
        const items: { id: number }[] = JSON.parse(answer)
        const spoil = ({ id, ...item }: { id: number }) => {
          const { method, params } = calls[id] as RpcCall
          // The node refuses state overrides. The service then reads storage words one by one, and the node returns
          // false words.
          if (method === 'eth_call' && params.length === 3)
            return { id, error: { code: -32602, message: 'too many arguments' } }
          return { id, ...item, ...(method === 'eth_getStorageAt' && { result: word }) }
        }
        return JSON.stringify(items.map(spoil))
      }
      expectError(await askStatus(service, vaultsOn(8453)[0]), 'upstream_bad_answer')
      expect(base.bodies.join()).toContain('eth_getStorageAt')
    },
  )

  test('(another block each time) is a bad upstream response, not an endless search', async ({
    coldService: service,
    base,
    vaultsOn,
  }) => {
    let block = 1_000_000
    // The node reports another block number in each call of a batch. It returns nothing for the service's bytecode
    // that reads all values in one call, so the service needs several calls.
    const another = createReturnDataChange((data, selector) => {
      if (selector === '0x00000000') return '0x'
      if (selector !== BLOCK_NUMBER_SELECTOR) return data
      block += 1
      return numberToHex(block, { size: 32 })
    })
    rewriteResults(base, another)
    // Every request for a block by number gets the latest block, so the node seems to have every block.
    base.rewriteRequest = (request) => request.replaceAll(/"0x[0-9a-f]+"(?=[,\]])/g, '"latest"')
    const { status } = await list(service)
    expect(status).toBe(200)
    expectError(await askStatus(service, vaultsOn(8453)[0]), 'upstream_bad_answer')
  })
})

describe("The job that records a chain's states", () => {
  test('reports its work, and no change when it runs again at the same block', async ({ service }) => {
    await callRpc(service.backends.chains[0] as { rpcUrl: string }, [{ method: 'anvil_mine', params: ['0x1'] }])
    const report = { outcome: 'refreshed', chainId: 8453, vaults: countOf(service, 8453), behind: 0, entries: 0 }
    expect(await refresh(8453)).toMatchObject(report)
    expect(await refresh(8453)).toMatchObject({ ...report, prices: 0, states: 0 })
  })

  test('sends its chain three requests, and the other none', async ({ service }) => {
    await refresh(8453)
    service.rpc[8453]?.reset()
    await refresh(8453)
    // The job makes three requests: the block with the finality tag and the vaults' states in parallel, then the
    // newest block that is old enough to be final.
    expect([service.rpc[8453]?.bodies.length, service.rpc[42161]?.bodies.length]).toEqual([3, 0])
  })

  test('never replaces a newer block by an older one', async ({ service, base, list }) => {
    const chain = service.backends.chains[0] as { rpcUrl: string }
    const [snapshot] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])
    await callRpc(chain, [{ method: 'anvil_mine', params: ['0x5'] }])
    await refresh(8453)
    const recordedBlock = async () => {
      base.behaviour = 'answer 500'
      const { vaults } = await list()
      base.reset()
      return asyncOn(vaults, 8453).map(({ stateAsOf }) => stateAsOf?.blockNumber)
    }
    const newer = await recordedBlock()

    await callRpc(chain, [{ method: 'evm_revert', params: [snapshot] }])
    expect(await refresh(8453)).toMatchObject({ outcome: 'refreshed', vaults: countOf(service, 8453), states: 0 })
    expect(await recordedBlock()).toEqual(newer)
  })

  test('records the other vaults if one cannot be read', async ({ service, base, list, vaultsOn }) => {
    const chain = service.backends.chains[0] as { rpcUrl: string }
    const [broken, ...sound] = vaultsOn(8453)
    const [snapshot] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])
    await callRpc(chain, [
      { method: 'anvil_setCode', params: [broken, REVERTING] },
      { method: 'anvil_mine', params: ['0x20'] },
    ])
    expect(await refresh(8453)).toMatchObject({ outcome: 'refreshed', vaults: countOf(service, 8453) })

    base.behaviour = 'answer 500'
    const { vaults } = await list()
    await callRpc(chain, [{ method: 'evm_revert', params: [snapshot] }])
    const recorded = asyncOn(vaults, 8453).filter(({ poolAddress }) => sound.includes(poolAddress))
    expect(recorded).toHaveLength(sound.length)
    for (const { vaultState, stateAsOf } of recorded) {
      expect(vaultState?.missing).toEqual([])
      expect(stateAsOf?.stale).toBe(true)
    }
  })

  test('fails loudly while its chain does, and records nothing', async ({ base, service }) => {
    base.behaviour = 'refuse connections'
    await expect(refresh(8453)).rejects.toMatchObject({ code: 'upstream_unavailable' })
    expect(service.table.tries.filter(({ action }) => /^(Put|BatchWrite)Item$/.test(action))).toEqual([])
  })

  test('fails loudly while the table cannot be reached', async ({ service }) => {
    service.table.fails = () => true
    await expect(refresh(8453)).rejects.toThrow()
  })

  test.for([[{ chainId: 5 }], [undefined]])('refuses to run for %j', async ([event]) => {
    await expect(refreshChain(event, someContext())).rejects.toThrow()
  })

  test('does nothing on a chain without vaults and without a node', async ({ service: _ }) => {
    expect(await refresh(10)).toMatchObject({ outcome: 'no vaults', chainId: 10 })
  })
})
