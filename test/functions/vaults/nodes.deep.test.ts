import { numberToHex, stringify } from 'viem'
import { describe, expect } from 'vitest'
import { NODE_PROFILES, type NodeProfileName } from '../../../sandbox/node-profiles.ts'
import { type Node, startNode } from '../../../sandbox/nodes.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { createDepositJourney } from '../../support/cross-chain.ts'
import { decodeBridgeDeposit } from '../../support/oracles.ts'
import { runRefreshChain } from '../../support/records.ts'
import { test as base, type HttpReply, type Service, startNewContainers, USERS } from '../../support/service.ts'
import { openLagoonVault } from '../../support/vaults.ts'

const [ALICE, BOB] = USERS
const BASE = 8453
const ARBITRUM = 42161
const DAY = 86_400

const ENDPOINTS = [
  'list',
  'deposit',
  'cross-chain deposit',
  'withdrawal',
  'withdrawal of everything',
  'claim',
  'claim of a withdrawal',
  'cancellation',
  'deposit status',
  'withdraw status',
  'cross-chain status',
  'positions',
  'position',
  'history',
] as const
type Endpoint = (typeof ENDPOINTS)[number]
type Replies = Readonly<Record<Endpoint, HttpReply>>

const WITHOUT_EVENTS: readonly Endpoint[] = [
  'list',
  'deposit',
  'cross-chain deposit',
  'withdrawal',
  'withdrawal of everything',
  'claim',
  'claim of a withdrawal',
  'cancellation',
  'deposit status',
  'withdraw status',
]

/** Requests whose transactions are simulated if the node can do that. They must also succeed if it cannot. */
const SIMULATED: readonly Endpoint[] = [
  'deposit',
  'withdrawal',
  'withdrawal of everything',
  'claim',
  'claim of a withdrawal',
  'cancellation',
]

async function prepare(service: Service) {
  const vault = await openLagoonVault(service, { generation: '0.5' })
  await vault.request(BOB.address, vault.units('1000'))
  await vault.settle()
  await vault.request(ALICE.address, vault.units('500'))
  await vault.settle(vault.units('10'))
  await vault.act(ALICE.address, 'deposit', vault.units('200'), ALICE.address, ALICE.address)
  await vault.act(ALICE.address, 'requestRedeem', 10n ** 18n, ALICE.address, ALICE.address)
  await vault.settle()
  await vault.request(BOB.address, vault.units('5'))
  for (const chain of service.backends.chains) {
    await callRpc(chain, [{ method: 'evm_increaseTime', params: [2 * DAY] }])
    await mine(chain, 20)
    await runRefreshChain(chain.chainId)
  }
  // The job has not recorded this deposit, so each request must read it from the chain.
  await vault.act(ALICE.address, 'deposit', vault.units('70'), ALICE.address, ALICE.address)
  const journey = createDepositJourney(vault, service)
  await journey.mint(ALICE.address, journey.units('50'))
  const sent = await journey.send(ALICE, await journey.ask(ALICE, journey.units('50')))
  const hash = sent.at(-1)?.transactionHash
  // Ten more blocks are mined. A node that is some blocks behind then has all events too.
  for (const chain of service.backends.chains) await mine(chain, 10)

  const vaults = service.backends.chains.flatMap(({ vaults }) => vaults)
  const key = await service.createClient([...vaults, { chainId: BASE, address: vault.address }])
  const user = `/defi-vaults/v1/defi/user/${ALICE.address}`
  const deposit = { vaultAddress: vault.address, userAddress: ALICE.address, amount: '1000000' }
  const withdrawal = { vaultAddress: vault.address, userAddress: ALICE.address }
  const requests: Readonly<Record<Endpoint, readonly [method: string, path: string, body?: object]>> = {
    list: ['GET', '/defi-vaults/v1/vaults'],
    deposit: ['POST', '/defi-vaults/v1/defi/vault/deposit', deposit],
    'cross-chain deposit': [
      'POST',
      '/defi-vaults/v1/defi/vault/deposit',
      { ...deposit, amount: '50000000', srcChainId: ARBITRUM, srcToken: journey.token.address },
    ],
    withdrawal: ['POST', '/defi-vaults/v1/defi/vault/withdraw', { ...withdrawal, shares: '1000000000000000000' }],
    'withdrawal of everything': ['POST', '/defi-vaults/v1/defi/vault/withdraw', { ...withdrawal, max: true }],
    claim: ['POST', '/defi-vaults/v1/defi/vault/claim', { vaultAddress: vault.address, userAddress: ALICE.address }],
    'claim of a withdrawal': ['POST', '/defi-vaults/v1/defi/vault/claim', { ...withdrawal, kind: 'withdrawal' }],
    cancellation: ['POST', '/defi-vaults/v1/defi/vault/cancel', { ...withdrawal, userAddress: BOB.address }],
    'withdraw status': [
      'GET',
      `/defi-vaults/v1/defi/vault/${vault.address}/withdraw-status?userAddress=${ALICE.address}`,
    ],
    'deposit status': [
      'GET',
      `/defi-vaults/v1/defi/vault/${vault.address}/deposit-status?userAddress=${ALICE.address}`,
    ],
    'cross-chain status': ['GET', `/defi-vaults/v1/defi/cross-chain/${hash}/status?srcChainId=${ARBITRUM}`],
    positions: ['GET', `${user}/positions`],
    position: ['GET', `${user}/positions/${vault.address}`],
    history: ['GET', `${user}/deposits`],
  }
  return {
    async ask(of: Service, endpoints: readonly Endpoint[] = ENDPOINTS): Promise<Replies> {
      of.pass(0.5)
      const entries = endpoints.map(async (endpoint) => {
        const [method, path, body] = requests[endpoint]
        return [endpoint, await of.call(method, path, { key, ...(body && { body }) })] as const
      })
      return Object.fromEntries(await Promise.all(entries)) as Replies
    },
  }
}

const mine = (chain: { readonly rpcUrl: string }, blocks: number) =>
  callRpc(chain, [{ method: 'anvil_mine', params: [numberToHex(blocks)] }])

const test = base
  .extend('stage', { scope: 'file' }, ({ sharedService }) => prepare(sharedService))
  .extend('truth', { scope: 'file' }, ({ sharedService, stage }) => stage.ask(sharedService))
  /**
   * Returns a function that starts the service in new containers. They read both chains from nodes with the limits of
   * the named providers.
   */
  .extend('behind', ({ service }, { onCleanup }) => {
    const stops: (() => Promise<void>)[] = []
    onCleanup(async () => {
      for (const stop of stops) await stop()
    })
    return async (...names: NodeProfileName[]) => {
      const nodes = await Promise.all(service.backends.chains.map(({ rpcUrl }) => open(rpcUrl, names)))
      stops.push(...nodes.flat().map(({ stop }) => stop))
      const urls = service.backends.chains.map(({ chainId }, index) => [chainId, nodes[index]?.map(({ url }) => url)])
      service.backends.setRpcUrls(Object.fromEntries(urls))
      const cold = await startNewContainers(service)
      stops.unshift(cold.stop)
      return cold.service
    }
  })

const open = (rpcUrl: string, names: readonly NodeProfileName[]): Promise<Node[]> =>
  Promise.all(names.map((name) => startNode(NODE_PROFILES[name], rpcUrl)))

/** Names of values that are not compared, because they depend on the time, the block, or newer records of the job. */
const VARYING = [
  'timestamp',
  'requestId',
  'estimatedGas',
  'annualYield',
  'growth',
  'statusDescription',
  'nextPollAfterMs',
  'evidence',
]

function stripTimes(endpoint: Endpoint, { body }: HttpReply): string {
  if (endpoint === 'cross-chain deposit') {
    const { quoteTimestamp: _, fillDeadline: __, ...sent } = decodeBridgeDeposit(body.operations.at(-1).data)
    return stringify({ approval: body.approval, to: body.operations.at(-1).to, sent })
  }
  return stringify(body, (key, value) => {
    if (key === 'stateAsOf') return value && { stale: value.stale }
    return VARYING.includes(key) ? undefined : value
  })
}

type Verdict = 'right' | 'typed error' | 'right but for what it names in errors' | `wrong: ${string}`

function compareReplies(endpoint: Endpoint, reply: HttpReply, truth: HttpReply): Verdict {
  if (reply.status >= 500) {
    return /^upstream_/.test(reply.body.code) ? 'typed error' : `wrong: ${reply.status} ${reply.body.code}`
  }
  if (reply.status !== truth.status) return `wrong: ${reply.status} ${JSON.stringify(reply.body)}`
  if (Object.keys(reply.body.errors ?? {}).length > 0 || hasStale(reply.body))
    return 'right but for what it names in errors'
  const [actual, expected] = [stripTimes(endpoint, reply), stripTimes(endpoint, truth)]
  return actual === expected ? 'right' : `wrong: ${difference(actual, expected)}`
}

function difference(actual: string, expected: string): string {
  const at = Array.from(actual).findIndex((character, index) => character !== expected[index])
  return `${actual.slice(Math.max(0, at - 60), at + 60)} instead of ${expected.slice(at, at + 60)}`
}

function hasStale(body: { data?: { stateAsOf?: { stale: boolean } | null }[] }): boolean {
  return Array.isArray(body.data) && body.data.some(({ stateAsOf }) => stateAsOf === null || stateAsOf?.stale === true)
}

function verdicts(replies: Replies, truth: Replies): Record<Endpoint, Verdict> {
  const judged = ENDPOINTS.map((endpoint) => [endpoint, compareReplies(endpoint, replies[endpoint], truth[endpoint])])
  return Object.fromEntries(judged)
}

const allRight = Object.fromEntries(ENDPOINTS.map((endpoint) => [endpoint, 'right']))
const ANY_NOT_WRONG = expect.not.stringMatching(/^wrong/)
const noneWrong = Object.fromEntries(ENDPOINTS.map((endpoint) => [endpoint, ANY_NOT_WRONG]))

test('The reference replies are complete', ({ truth }) => {
  expect(verdicts(truth, truth)).toEqual(allRight)
  expect(truth.positions.body.positions).toHaveLength(1)
  expect(truth.claim.body.operations).toHaveLength(1)
  expect(truth['cross-chain status'].body).toMatchObject({ status: 'bridging' })
})

// A failed test runs once more, because requests time out if the machine stalls for three seconds.
describe('At a node such as', { retry: 1 }, () => {
  test.for<[NodeProfileName]>([
    ['base.org'],
    ['optimism.io'],
    ['publicnode'],
    ['drpc-free'],
    ['alchemy-free'],
    ['quicknode'],
    ['quicknode-trial'],
    ['no-batches'],
    ['behind'],
    ['slow'],
  ])('%s every reply equals that of a node without limits', async ([name], { behind, stage, truth }) => {
    const replies = await stage.ask(await behind(name))
    expect(verdicts(replies, truth)).toEqual(allRight)
  })

  test('one without events, lists, deposits, claims and statuses are right, and nothing is wrong', async ({
    behind,
    stage,
    truth,
  }) => {
    const replies = await stage.ask(await behind('no-logs'))
    const right = Object.fromEntries(WITHOUT_EVENTS.map((endpoint) => [endpoint, 'right']))
    expect(verdicts(replies, truth)).toEqual({ ...noneWrong, ...right })
  })

  test('one without simulation, deposits, withdrawals and claims report that they were not simulated', async ({
    behind,
    stage,
    truth,
  }) => {
    const replies = await stage.ask(await behind('no-simulation'))
    for (const endpoint of SIMULATED) {
      const { status, body } = replies[endpoint]
      expect([status, body.simulation]).toEqual([200, { status: 'unavailable' }])
      expect(body.operations).toEqual(truth[endpoint].body.operations)
    }
    const rest = ENDPOINTS.filter((endpoint) => !SIMULATED.includes(endpoint))
    expect(verdicts(replies, truth)).toMatchObject(Object.fromEntries(rest.map((endpoint) => [endpoint, 'right'])))
  })

  test.for<[NodeProfileName]>([['wrong-chain'], ['redirecting']])(
    '%s no reply trusts the node or follows its redirect',
    async ([name], { behind, stage, truth }) => {
      const replies = await stage.ask(await behind(name))
      const verdictOf = verdicts(replies, truth)
      for (const endpoint of ENDPOINTS) expect(verdictOf[endpoint]).toMatch(/^typed error$|errors$/)
    },
  )

  test('one that limits requests, nothing is wrong, and errors have a retry-after', async ({
    behind,
    stage,
    truth,
  }) => {
    const replies = await stage.ask(await behind('rate-limited'))
    expect(verdicts(replies, truth)).toEqual(noneWrong)
    const failed = Object.values(replies).filter(({ status }) => status >= 500)
    expect(failed).not.toEqual([])
    for (const { headers } of failed) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('one that lies, transactions are still the user’s own and go only to the vault', async ({
    behind,
    stage,
    truth,
  }) => {
    const replies = await stage.ask(await behind('lying'))
    expect(ENDPOINTS.map((endpoint) => replies[endpoint].status)).not.toContain(500)
    // The service must not store the lying node's status as final. With the next node it then reads the true status.
    expect(replies['cross-chain status'].body).not.toMatchObject({ final: true })
    expect(verdicts(await stage.ask(await behind('quicknode')), truth)).toMatchObject({ 'cross-chain status': 'right' })
    for (const endpoint of [...SIMULATED, 'cross-chain deposit'] as const) {
      const { status, body } = replies[endpoint]
      if (status !== 200) continue
      const placesOf = ({ operations }: { operations: { to: string }[] }) => operations.map(({ to }) => to)
      expect(placesOf(body)).toEqual(placesOf(truth[endpoint].body))
      if (endpoint === 'deposit') expect(body.operations).toEqual(truth.deposit.body.operations)
    }
  })
})

describe('With two good nodes as fallbacks, everything is right although the first is', () => {
  test.for<[NodeProfileName]>([['wrong-chain'], ['no-logs'], ['rate-limited']])(
    '%s',
    async ([name], { behind, stage, truth }) => {
      const replies = await stage.ask(await behind(name, 'quicknode', 'publicnode'))
      expect(verdicts(replies, truth)).toEqual(allRight)
    },
  )
})

test('After a day without records, a node with 10-block ranges makes nothing wrong, and the job recovers', async ({
  service,
  stage,
  behind,
}) => {
  const [base, arbitrum] = service.backends.chains
  if (!base || !arbitrum) throw new Error('There are two chains')
  await callRpc(base, [{ method: 'anvil_mine', params: [numberToHex(360), numberToHex(240)] }])
  await callRpc(arbitrum, [{ method: 'evm_increaseTime', params: [DAY] }])
  await mine(arbitrum, 1)
  const truth = await stage.ask(service)
  const cold = await behind('alchemy-free')
  const replies = await stage.ask(cold)
  const right = Object.fromEntries(WITHOUT_EVENTS.map((endpoint) => [endpoint, 'right']))
  expect(verdicts(replies, truth)).toEqual({ ...noneWrong, ...right })

  // The import comes after the start of the containers, so that the job reads the same nodes as the containers.
  const { runRefreshChain: refresh } = await import('../../support/records.ts')
  for (let run = 0; run < 3; run += 1) await refresh(BASE)
  expect(verdicts(await stage.ask(cold), await stage.ask(service))).toEqual(allRight)
})
