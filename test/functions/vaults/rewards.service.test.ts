import { type Address, encodeFunctionData, getAddress, type Hex, maxUint208, pad, toHex, zeroAddress } from 'viem'
import { readContract } from 'viem/actions'
import { describe, expect } from 'vitest'
import { deployHostileToken } from '../../../sandbox/deploy.ts'
import type { ProviderReply } from '../../../sandbox/fake.ts'
import { DISTRIBUTOR, distributorAbi } from '../../../sandbox/rewards.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { transact } from '../../../sandbox/transactions.ts'
import { createChainClient } from '../../support/chain-client.ts'
import { expectError } from '../../support/errors.ts'
import { TOKEN_ABI } from '../../support/oracles.ts'
import { test as base, type HttpReply, type Service, USERS } from '../../support/service.ts'
import { listRpcCalls, type RecordingProxy } from '../../support/wire.ts'

// These tests use the real contract of Merkl, and a simulated Merkl API that can return false data.

const [ALICE, BOB] = USERS
const [BASE, ARBITRUM] = [8453, 42161] as const
const MORPHO: Address = '0xBAa5CC21fd487B8Fcc2F632f3F4E8D37262a0842'
const TOKENS = { [BASE]: MORPHO, [ARBITRUM]: '0x40BD670A58238e6E230c430BBb5cE6ec0d40df48' } as const
const UNIT = 10n ** 18n

const test = base
  .extend('unlimited', { auto: true, scope: 'file' }, ({ sharedService }) => {
    sharedService.backends.rewards.settings.requestsPerSecond = Number.POSITIVE_INFINITY
  })
  .extend('merkl', ({ service }, { onCleanup }) => {
    const { merkl } = service.backends.providers
    onCleanup(() => {
      merkl.rewrite = undefined
    })
    return merkl
  })

let accountCount = 0
async function someAccount({ backends }: Service): Promise<Address> {
  accountCount += 1
  const account = getAddress(pad(toHex(0xacc0000000 + accountCount), { size: 20 }))
  for (const chain of backends.chains) {
    await callRpc(chain, [
      { method: 'anvil_impersonateAccount', params: [account] },
      { method: 'anvil_setBalance', params: [account, toHex(10n ** 20n)] },
    ])
  }
  return account
}

const chainOf = ({ backends }: Service, chainId: number = BASE) => {
  const chain = backends.chains.find((one) => one.chainId === chainId)
  if (!chain) throw new Error(`There is no chain ${chainId}`)
  return chain
}

function wireOf(rpc: Service['rpc'], chainId: number = BASE): RecordingProxy {
  const wire = rpc[chainId]
  if (!wire) throw new Error(`There is no wire to chain ${chainId}`)
  return wire
}

const rewardOf = (service: Service, account: Address, amount: bigint, token = MORPHO, chainId: number = BASE) => ({
  ...{ account, token, amount },
  vault: chainOf(service, chainId).vaults[0]?.address ?? DISTRIBUTOR,
})

const list = ({ call }: Service, account: Address, query = `?chainId=${BASE}`) =>
  call('GET', `/defi-vaults/v1/defi/user/${account}/rewards${query}`)
const claim = ({ call }: Service, account: Address, fields: object = {}) =>
  call('POST', '/defi-vaults/v1/defi/rewards/claim', { body: { userAddress: account, chainId: BASE, ...fields } })

async function balanceOf(service: Service, account: Address, token = MORPHO): Promise<bigint> {
  const args = [account] as const
  return readContract(createChainClient(chainOf(service)), {
    address: token,
    abi: TOKEN_ABI,
    functionName: 'balanceOf',
    args,
  })
}

async function send(service: Service, account: Address, { body }: HttpReply) {
  await transact(
    chainOf(service),
    body.operations.map(({ to, data }: { to: Address; data: Hex }) => ({ label: 'claim', from: account, to, data })),
  )
}

function expectRefusal(reply: HttpReply, reason: string, token = MORPHO) {
  expectError(reply, 'no_claimable_rewards', ['tokens'])
  expect(reply.body.details).toEqual([{ field: 'tokens', issue: `${token}: ${reason}` }])
}

describe('Rewards', () => {
  test('are empty for a user unknown to the source', async ({ service }) => {
    const account = await someAccount(service)
    const reply = await list(service, account, '')
    expect(reply).toMatchObject({ status: 200, body: { userAddress: account, rewards: [], evidence: [] } })
    expect(reply.body.errors).toBeUndefined()
    expectError(await claim(service, account), 'no_claimable_rewards')
    expectError(await claim(service, account, { chainId: 1 }), 'no_claimable_rewards')
  })

  test('are listed with the exact amount that a claim pays, and pays once', async ({ service, merkl }) => {
    const account = await someAccount(service)
    const amount = 12n * UNIT + 345n
    await service.backends.rewards.grant(BASE, [rewardOf(service, account, amount)])
    service.backends.rewards.addPending(BASE, [rewardOf(service, account, 7n)])
    const { body } = await list(service, account)
    expect(body.rewards).toEqual([
      {
        ...{ chainId: BASE, token: MORPHO, symbol: 'MORPHO', decimals: 18 },
        ...{ amount: `${amount}`, pending: '7', claimed: '0', usd: null, claimableAt: null, recipient: account },
      },
    ])
    expect(body.evidence).toMatchObject([{ chainId: BASE, nodes: 1 }])

    const requestsBefore = merkl.requests.length
    const reply = await claim(service, account)
    expect(reply).toMatchObject({
      status: 200,
      body: {
        ...{ approval: [], protocol: 'merkl', chainId: BASE, isCrossChain: false, leftOut: [] },
        ...{ rewards: [{ token: MORPHO, amount: `${amount}` }], simulation: { status: 'success' } },
      },
    })
    expect(reply.body.operations).toMatchObject([{ to: DISTRIBUTOR, value: '0', chainId: BASE }])
    await send(service, account, reply)
    expect(await balanceOf(service, account)).toBe(amount)

    // The Merkl API does not know the claim yet, so the service must read the claimed amount from the contract.
    const after = await list(service, account)
    expect(after.body.rewards).toMatchObject([{ amount: '0', pending: '7', claimed: `${amount}` }])
    expectRefusal(await claim(service, account), 'not_yet_claimable')
    expect(merkl.requests.length - requestsBefore).toBe(0)
  })

  test('of a tree in dispute are pending, with the time when they become claimable', async ({ service }) => {
    const { rewards } = service.backends
    const account = await someAccount(service)
    await rewards.grant(BASE, [rewardOf(service, account, UNIT)], { inDisputePeriod: true })
    const { endOfDisputePeriod } = await rewards.readShownRewards(BASE, account)
    const pending = { amount: '0', pending: `${UNIT}` }
    const claimableAt = new Date(endOfDisputePeriod * 1000).toISOString()
    expect((await list(service, account)).body.rewards).toMatchObject([{ ...pending, claimableAt }])
    expectRefusal(await claim(service, account), 'not_yet_claimable')

    await rewards.dispute(BASE)
    expect((await list(service, account)).body.rewards).toMatchObject([{ ...pending, claimableAt: null }])
    await rewards.resolve(BASE, true)
    // The Merkle root is revoked in the contract. The Merkl API does not know that yet.
    expect((await list(service, account)).body.rewards).toMatchObject([{ ...pending, claimableAt: null }])
    expectRefusal(await claim(service, account), 'not_yet_claimable')
  })

  test('that the contract pays to another account are not claimed, and name the account', async ({ service }) => {
    const account = await someAccount(service)
    await service.backends.rewards.grant(BASE, [rewardOf(service, account, UNIT)])
    const args = [BOB.address, zeroAddress] as const
    const data = encodeFunctionData({ abi: distributorAbi, functionName: 'setClaimRecipient', args })
    await transact(chainOf(service), [{ label: 'recipient', from: account, to: DISTRIBUTOR, data }])
    expect((await list(service, account)).body.rewards).toMatchObject([{ recipient: BOB.address, amount: `${UNIT}` }])
    expectRefusal(await claim(service, account), 'paid_to_another_account')
  })

  test.for([
    ['burnsGas', 'reverts'],
    ['callsBack', 'reverts'],
    ['reverts', 'reverts'],
    ['movesNothing', 'does_not_transfer'],
  ] as const)(
    'in a token that %s leave the others claimable, and name the token',
    async ([harm, reason], { service }) => {
      const account = await someAccount(service)
      const hostile = await deployHostileToken(chainOf(service), harm)
      const both = [rewardOf(service, account, UNIT), rewardOf(service, account, UNIT, hostile)]
      await service.backends.rewards.grant(BASE, both)
      const reply = await claim(service, account)
      expect(reply.body).toMatchObject({
        rewards: [{ token: MORPHO, amount: `${UNIT}` }],
        leftOut: [{ token: hostile, reason, claimableAt: null }],
        simulation: { status: 'success' },
      })
      await send(service, account, reply)
      expect(await balanceOf(service, account)).toBe(UNIT)
    },
  )

  test('in more tokens than a claim takes are claimed by the next one, although the source lags', async ({
    service,
  }) => {
    const account = await someAccount(service)
    const tokens: Address[] = []
    for (let count = 0; count < 12; count += 1) tokens.push(await deployHostileToken(chainOf(service), 'none'))
    await service.backends.rewards.grant(
      BASE,
      tokens.map((token) => rewardOf(service, account, UNIT, token)),
    )
    const first = await claim(service, account)
    expect(first.body.rewards).toHaveLength(10)
    const rest = tokens.slice(10).map((token) => ({ token, reason: 'claim_again', claimableAt: null }))
    expect(first.body.leftOut).toEqual(rest)
    await send(service, account, first)
    const second = await claim(service, account)
    expect(second.body).toMatchObject({ rewards: rest.map(({ token }) => ({ token, amount: `${UNIT}` })), leftOut: [] })
  })

  test('are claimed although more tokens before them revert than a claim takes', async ({ service }) => {
    const account = await someAccount(service)
    const bad: Address[] = []
    for (let count = 0; count < 10; count += 1) bad.push(await deployHostileToken(chainOf(service), 'reverts'))
    await service.backends.rewards.grant(
      BASE,
      [...bad, MORPHO].map((token) => rewardOf(service, account, UNIT, token)),
    )
    const { body } = await claim(service, account)
    expect(body.rewards).toEqual([{ token: MORPHO, amount: `${UNIT}` }])
    expect(body.leftOut).toEqual(bad.map((token) => ({ token, reason: 'reverts', claimableAt: null })))
  })

  test('are listed although twelve tokens beside them use up all gas of any call', async ({ service }) => {
    const account = await someAccount(service)
    const burners: Address[] = []
    for (let count = 0; count < 12; count += 1) burners.push(await deployHostileToken(chainOf(service), 'none'))
    await service.backends.rewards.grant(
      BASE,
      [...burners, MORPHO].map((token) => rewardOf(service, account, UNIT, token)),
    )
    // Hashes a megabyte in a loop, which takes a node half a second for the gas of a block.
    const code = '0x5b6210000060002050600056'
    await callRpc(
      chainOf(service),
      burners.map((token) => ({ method: 'anvil_setCode', params: [token, code] })),
    )
    wireOf(service.rpc).reset()
    const { status, body } = await list(service, account)
    expect(status).toBe(200)
    const calls = listRpcCalls(wireOf(service.rpc)).flat()
    const gas = calls.flatMap(({ params: [call] }) => (call as { gas?: Hex }).gas ?? [])
    expect(gas).toEqual(Array(13).fill(toHex(28_000_000n / 13n)))
    expect(body.rewards).toHaveLength(13)
    expect(body.rewards).toContainEqual(expect.objectContaining({ token: MORPHO, symbol: 'MORPHO', decimals: 18 }))
    expect(body.rewards).toContainEqual(expect.objectContaining({ token: burners[0], symbol: null, decimals: null }))
  })

  test('that are requested but not reported are left out', async ({ service }) => {
    const account = await someAccount(service)
    await service.backends.rewards.grant(BASE, [rewardOf(service, account, UNIT)])
    const { body } = await claim(service, account, { tokens: [MORPHO, ALICE.address] })
    expect(body.rewards).toMatchObject([{ token: MORPHO }])
    expect(body.leftOut).toEqual([{ token: ALICE.address, reason: 'not_found', claimableAt: null }])
    expectError(await claim(service, account, { tokens: [] }), 'invalid_tokens', ['tokens'])
    expectError(await claim(service, account, { tokens: ['MORPHO'] }), 'invalid_tokens', ['tokens.0'])
  })
})

describe('A claim calls', () => {
  const methodsOf = ({ rpc }: Service) =>
    listRpcCalls(wireOf(rpc)).map((batch) => batch.map(({ method }) => method).toSorted())

  test('a host with three calls in one request, and not the source that has just reported', async ({
    service,
    merkl,
  }) => {
    const account = await someAccount(service)
    await service.backends.rewards.grant(BASE, [rewardOf(service, account, UNIT)])
    await list(service, account)
    const requestsBefore = merkl.requests.length
    wireOf(service.rpc).reset()
    expect((await claim(service, account)).status).toBe(200)
    expect(methodsOf(service)).toEqual([['eth_call', 'eth_getBlockByNumber', 'eth_simulateV1']])
    expect(merkl.requests.length).toBe(requestsBefore)
  })

  test('a host once more if a token is left out, so two hosts eight times', async ({ service }) => {
    const account = await someAccount(service)
    const hostile = await deployHostileToken(chainOf(service), 'reverts')
    const both = [rewardOf(service, account, UNIT), rewardOf(service, account, UNIT, hostile)]
    await service.backends.rewards.grant(BASE, both)
    wireOf(service.rpc).reset()
    expect((await claim(service, account)).status).toBe(200)
    expect(methodsOf(service)).toEqual([['eth_call', 'eth_getBlockByNumber', 'eth_simulateV1'], ['eth_simulateV1']])
  })
})

describe('While a chain is down', () => {
  test('the rewards of the others are listed, and the error names the chain', async ({ service }) => {
    const account = await someAccount(service)
    const both = [BASE, ARBITRUM].map((chainId) => ({ chainId, token: TOKENS[chainId] }))
    for (const { chainId, token } of both) {
      await service.backends.rewards.grant(chainId, [rewardOf(service, account, UNIT, token, chainId)])
    }
    wireOf(service.rpc, ARBITRUM).behaviour = 'answer 500'
    const { status, body } = await list(service, account, '')
    expect(status).toBe(200)
    expect(body.rewards).toMatchObject([{ chainId: BASE, amount: `${UNIT}` }])
    expect(Object.keys(body.errors)).toEqual([`${ARBITRUM}`])
  })
})

describe('While the source', () => {
  test('is down, rewards that it reported before are still listed and claimed', async ({ service, merkl }) => {
    const account = await someAccount(service)
    await service.backends.rewards.grant(BASE, [rewardOf(service, account, UNIT)])
    await list(service, account)
    merkl.rewrite = () => ({ status: 500, body: {} })
    service.pass(600)
    const { body } = await list(service, account)
    expect(body.rewards).toMatchObject([{ amount: `${UNIT}` }])
    expect(body.errors).toEqual({ [BASE]: 'Merkl cannot be reached: new rewards may be missing.' })
    expect((await claim(service, account)).body.rewards).toMatchObject([{ amount: `${UNIT}` }])
  })

  test('is down and has reported nothing, the list is an error and not empty', async ({ service, merkl }) => {
    const account = await someAccount(service)
    merkl.rewrite = () => ({ status: 500, body: {} })
    expectError(await list(service, account), 'upstream_unavailable')
    expectError(await claim(service, account), 'upstream_unavailable')
  })

  const lie = (change: (row: Record<string, unknown>) => object) => (reply: ProviderReply) => {
    if (!Array.isArray(reply.body)) return reply
    const body = reply.body.map(({ rewards, ...rest }) => ({ ...rest, rewards: rewards.map(change) }))
    return { ...reply, body }
  }
  test.for([
    ['another amount', lie((row) => ({ ...row, amount: `${2n * UNIT}` }))],
    ['the largest amount', lie((row) => ({ ...row, amount: `${maxUint208}` }))],
    ['another proof', lie((row) => ({ ...row, proofs: [pad('0x1')] }))],
  ] as const)('reports %s, that reward is not claimed', async ([, rewrite], { service, merkl }) => {
    const account = await someAccount(service)
    await service.backends.rewards.grant(BASE, [
      rewardOf(service, account, UNIT),
      rewardOf(service, ALICE.address, UNIT),
    ])
    merkl.rewrite = rewrite
    expectRefusal(await claim(service, account), 'not_yet_claimable')
    expect((await list(service, account)).body.rewards).toMatchObject([{ amount: '0' }])
  })

  test.for([
    ['an amount above the balance of the contract', lie((row) => ({ ...row, amount: `${maxUint208 + 1n}` }))],
    ['a proof of a megabyte', lie((row) => ({ ...row, proofs: Array.from({ length: 16_000 }, () => pad('0x1')) }))],
  ] as const)('reports %s, the list reports a missing reward', async ([, rewrite], { service, merkl }) => {
    const account = await someAccount(service)
    await service.backends.rewards.grant(BASE, [rewardOf(service, account, UNIT)])
    merkl.rewrite = rewrite
    const { status, body } = await list(service, account)
    expect(status).toBe(200)
    expect(body.rewards).toEqual([])
    expect(body.errors).toEqual({ [BASE]: expect.any(String) })
    expectError(await claim(service, account), 'upstream_bad_answer')
  })
})
