import * as fc from 'fast-check'
import {
  type Address,
  decodeFunctionData,
  type Hex,
  isAddress,
  isAddressEqual,
  numberToHex,
  parseAbi,
  toFunctionSelector,
} from 'viem'
import { describe, expect, vi } from 'vitest'
import { contract as position } from '../../../functions/activity/position/contract.ts'
import { contract as positions } from '../../../functions/activity/positions/contract.ts'
import { contract as withdrawals } from '../../../functions/activity/withdrawals/contract.ts'
import { contract as cancel } from '../../../functions/vaults/cancel/contract.ts'
import { contract as claim } from '../../../functions/vaults/claim/contract.ts'
import { contract as depositStatus } from '../../../functions/vaults/deposit-status/contract.ts'
import { contract as withdraw } from '../../../functions/vaults/withdraw/contract.ts'
import { contract as withdrawStatus } from '../../../functions/vaults/withdraw-status/contract.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { listErrors } from '../../../reference/openapi.ts'
import { createReturnDataChange, rewriteResults } from '../../support/chain-answers.ts'
import { recordAllBlocks } from '../../support/records.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { test as base, type HttpReply, type Service, type UnsignedTransaction, USERS } from '../../support/service.ts'
import { openAsyncVault, openLagoonVault, openYieldVault, ROLES } from '../../support/vaults.ts'

// Logging is off, because writing log lines would take longer than the requests.
vi.hoisted(() => {
  process.env['POWERTOOLS_LOG_LEVEL'] = 'SILENT'
})

const [ALICE, BOB] = USERS
const BASE = 8453
const ONE = 10n ** 6n
const RUNS = 100

const VIEWS = [
  'version()',
  'pendingSilo()',
  'owner()',
  'safe()',
  'isTotalAssetsValid()',
  'paused()',
  'totalAssets()',
  'totalSupply()',
  'symbol()',
  'convertToAssets(uint256)',
  'convertToShares(uint256)',
  'convertToAssets(uint256,uint256)',
  'convertToShares(uint256,uint256)',
  'balanceOf(address)',
  'allowance(address,address)',
  'feeRates()',
  'isWhitelisted(address)',
  'isAllowed(address)',
  'maxDeposit(address)',
  'maxMint(address)',
  'maxRedeem(address)',
  'maxWithdraw(address)',
  'previewWithdraw(uint256)',
  'previewRedeem(uint256)',
  'pendingDepositRequest(uint256,address)',
  'claimableDepositRequest(uint256,address)',
  'pendingRedeemRequest(uint256,address)',
  'claimableRedeemRequest(uint256,address)',
  'pendingCancelDepositRequest(uint256,address)',
  'claimableCancelDepositRequest(uint256,address)',
  'pendingCancelRedeemRequest(uint256,address)',
  'claimableCancelRedeemRequest(uint256,address)',
] as const
const STORAGE = '0xffffffff'

const word = (value: bigint) => numberToHex(value, { size: 32 })
const NUMBERS = [
  0n,
  1n,
  2n,
  9_999n,
  10_000n,
  65_535n,
  10n ** 18n,
  2n ** 128n,
  2n ** 255n,
  2n ** 256n - 2n,
  2n ** 256n - 1n,
]
const ANSWERS: Readonly<Record<string, Hex>> = {
  ...Object.fromEntries(NUMBERS.map((value) => [`${value}`, word(value)])),
  nothing: '0x',
  short: '0x01',
  longer: `${word(7n)}${'ab'.repeat(70)}`,
  rates: `0x${[0n, 0n, 0n, 10_000n, 0n].map((rate) => word(rate).slice(2)).join('')}`,
  'higher rates': `0x${[0n, 0n, 0n, 65_535n, 65_535n].map((rate) => word(rate).slice(2)).join('')}`,
  'whole haircut': `0x${[0n, 0n, 0n, 0n, 10_000n].map((rate) => word(rate).slice(2)).join('')}`,
}

type Endpoint = {
  readonly contract: EndpointContract
  readonly method: string
  readonly path: string
  readonly body?: object
}
function endpointsOf(vaultAddress: Address, userAddress: Address): Endpoint[] {
  const whose = { vaultAddress, userAddress }
  const vaults = '/defi-vaults/v1/defi/vault'
  const user = `/defi-vaults/v1/defi/user/${userAddress}`
  const post = (contract: EndpointContract, path: string, more: object): Endpoint => ({
    contract,
    method: 'POST',
    path: `${vaults}/${path}`,
    body: { ...whose, ...more },
  })
  const get = (contract: EndpointContract, path: string): Endpoint => ({ contract, method: 'GET', path })
  return [
    ...[`${ONE}`, '1', `${2n ** 256n - 1n}`].flatMap((amount) => [
      post(withdraw, 'withdraw', { amount }),
      post(withdraw, 'withdraw', { shares: amount }),
    ]),
    post(withdraw, 'withdraw', { max: true }),
    post(withdraw, 'withdraw', { max: true }),
    ...(['deposit', 'withdrawal'] as const).flatMap((kind) => [
      post(claim, 'claim', { kind }),
      post(cancel, 'cancel', { kind }),
    ]),
    get(withdrawStatus, `${vaults}/${vaultAddress}/withdraw-status?userAddress=${userAddress}`),
    get(depositStatus, `${vaults}/${vaultAddress}/deposit-status?userAddress=${userAddress}`),
    get(positions, `${user}/positions`),
    get(position, `${user}/positions/${vaultAddress}`),
    get(withdrawals, `${user}/withdrawals`),
  ]
}

async function prepare(service: Service) {
  const lagoons = []
  for (const [generation, state] of [
    ['0.1', 'open'],
    ['0.5', 'open'],
    ['0.6', 'open'],
    ['0.6', 'at once'],
    ['0.6', 'closed'],
  ] as const) {
    const vault = await openLagoonVault(service, { generation })
    await vault.request(BOB.address, vault.units('1000'))
    await vault.settle()
    await vault.request(ALICE.address, vault.units('500'))
    await vault.settle(vault.units('10'))
    await vault.act(ALICE.address, 'deposit', vault.units('200'), ALICE.address, ALICE.address)
    await vault.act(ALICE.address, 'requestRedeem', 10n ** 18n, ALICE.address, ALICE.address)
    await vault.settle()
    if (state === 'at once') {
      await vault.settleForADay()
    }
    if (state !== 'at once') await vault.request(BOB.address, vault.units('5'))
    if (state === 'closed') {
      await vault.act(ROLES.admin, 'initiateClosing')
      const total = await vault.read('totalAssets')
      await vault.mint(ROLES.safe, total)
      await vault.approve(ROLES.safe, 2n ** 200n)
      await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', total)
      await vault.act(ROLES.safe, 'close', total)
    }
    lagoons.push({ address: vault.address, key: vault.key, share: vault.address, asset: vault.token })
  }
  const asyncs = []
  for (const make of ['aggregated', 'counted', 'redemptions'] as const) {
    const vault = await openAsyncVault(service, { make })
    const alice = ALICE.address
    await vault.mint(alice, 1000n * ONE)
    await vault.approve(alice, 1000n * ONE)
    const id = (counted: bigint) => (make === 'counted' ? counted : 0n)
    if (make === 'redemptions') await vault.act(alice, 'deposit', 100n * ONE, alice)
    else {
      await vault.act(alice, 'requestDeposit', 100n * ONE, alice, alice)
      await vault.act(ROLES.safe, 'fulfillDeposit', id(1n), alice, 100n * ONE, 100n * ONE)
      await vault.act(alice, 'mint', 100n * ONE, alice, alice)
      await vault.act(alice, 'requestDeposit', 10n * ONE, alice, alice)
      await vault.act(ROLES.safe, 'fulfillDeposit', id(2n), alice, 7n * ONE, 3_333_333n)
    }
    await vault.act(alice, 'requestRedeem', 50n * ONE, alice, alice)
    await vault.mint(ROLES.safe, 100n * ONE)
    await vault.act(ROLES.safe, 'fulfillRedeem', id(3n), alice, 7n * ONE, 11_111_111n)
    asyncs.push({ address: vault.address, key: vault.key, share: vault.share, asset: vault.token })
  }
  const savings = await openYieldVault(service)
  await savings.mint(ALICE.address, 100n * ONE)
  await savings.approve(ALICE.address, 100n * ONE)
  await service.send(BASE, ALICE, (await savings.deposit(ALICE, 100n * ONE)).body.operations)
  await recordAllBlocks(savings.chain)
  return [
    ...lagoons,
    ...asyncs,
    { address: savings.address, key: savings.key, share: savings.address, asset: savings.token },
  ]
}

type Stage = Awaited<ReturnType<typeof prepare>>[number]

const test = base
  .extend('backendsOptions', { scope: 'file' }, () => ({ chainIds: [BASE] }))
  .extend('stages', { scope: 'file' }, ({ sharedService }) => prepare(sharedService))

const lies = fc.record({
  views: fc.oneof(
    fc.dictionary(fc.constantFrom(...VIEWS), fc.constantFrom(...Object.keys(ANSWERS)), { maxKeys: 8 }),
    fc.dictionary(fc.constantFrom(...VIEWS), fc.constantFrom(...Object.keys(ANSWERS)), { maxKeys: 3 }),
    fc.dictionary(fc.constantFrom(...VIEWS), fc.constantFrom(...NUMBERS.slice(-4).map(String)), {
      minKeys: 4,
      maxKeys: 12,
    }),
    fc.record(
      {
        'feeRates()': fc.constantFrom('rates', 'higher rates', 'whole haircut'),
        'balanceOf(address)': fc.constantFrom(...NUMBERS.slice(4).map(String)),
        'totalAssets()': fc.constantFrom(...NUMBERS.map(String)),
      },
      { requiredKeys: ['feeRates()'] },
    ),
  ),
  words: fc.array(fc.record({ index: fc.nat(14), value: fc.constantFrom(...NUMBERS) }), { maxLength: 3 }),
  simulation: fc.constantFrom(
    'true',
    'true',
    'true',
    'none',
    'no logs',
    'reverted',
    'all works',
    ...NUMBERS.map(String),
  ),
})
type Lies = {
  readonly views: Record<string, string>
  readonly words: readonly { index: number; value: bigint }[]
  readonly simulation: string
}

function applyLies(service: Service, { views, words, simulation }: Lies): void {
  const wire = service.rpc[BASE]
  if (!wire) throw new Error('The chain has no wire.')
  const answers = new Map(Object.entries(views).map(([view, answer]) => [toFunctionSelector(view), ANSWERS[answer]]))
  const aggregate = createReturnDataChange((data, selector) => {
    if (selector === STORAGE) {
      const storageWords = data.slice(2).match(/.{64}/g) ?? []
      for (const { index, value } of words) if (index < storageWords.length) storageWords[index] = word(value).slice(2)
      return `0x${storageWords.join('')}`
    }
    return answers.get(selector as Hex) ?? data
  })
  rewriteResults(wire, (result, call) =>
    call.method === 'eth_simulateV1' ? simulated(result, simulation) : aggregate(result, call),
  )
}

type Block = { readonly calls: readonly Record<string, unknown>[] }
function simulated(result: unknown, how: string): unknown {
  if (how === 'true' || !result) return result
  if (how === 'none') return null
  return (result as Block[]).map((block) => ({
    ...block,
    calls: block.calls.map((one) => {
      if (how === 'no logs') return { ...one, logs: undefined }
      if (how === 'reverted') return { ...one, status: '0x0', returnData: '0x' }
      const success = { ...one, status: '0x1', error: undefined }
      return how === 'all works' ? success : { ...success, returnData: word(BigInt(how)) }
    }),
  }))
}

const CALLS = parseAbi([
  'function approve(address,uint256)',
  'function requestRedeem(uint256,address,address)',
  'function claimSharesAndRequestRedeem(uint256)',
  'function syncRedeem(uint256,address,uint256)',
  'function redeem(uint256,address,address)',
  'function withdraw(uint256,address,address)',
  'function deposit(uint256,address,address)',
  'function mint(uint256,address,address)',
  'function cancelRequestDeposit()',
  'function cancelRequestRedeem(address)',
  'function cancelDepositRequest(uint256,address)',
  'function cancelRedeemRequest(uint256,address)',
  'function claimCancelDepositRequest(uint256,address,address)',
  'function claimCancelRedeemRequest(uint256,address,address)',
])

/** Asserts that all calls go to the vault and act for the user, and that all approvals are for the vault. */
function expectOwn({ body }: HttpReply, vault: { address: Address; share: Address }, user: Address): void {
  for (const [list, to] of [
    [body.operations, vault.address],
    [body.approval, vault.share],
  ] as const) {
    for (const transaction of list as UnsignedTransaction[]) {
      expect(isAddressEqual(transaction.to, to)).toBe(true)
      expect(transaction.value).toBe('0')
      const { functionName, args = [] } = decodeFunctionData({ abi: CALLS, data: transaction.data })
      expect(functionName === 'approve').toBe(list === body.approval)
      const expected = functionName === 'approve' ? vault.address : user
      for (const arg of args) if (typeof arg === 'string' && isAddress(arg)) expect(arg).toBe(expected)
    }
  }
}

describe('a vault that returns arbitrary data', { timeout: 900_000 }, () => {
  test('gets only responses that the contracts declare, and only calldata of the user', async ({ service, stages }) => {
    const scenarios = fc.record({
      stage: fc.nat(stages.length - 1),
      of: fc.constantFrom(ALICE, ALICE, ALICE, BOB),
      endpoint: fc.nat(16),
      lies,
    })
    const property = fc.asyncProperty(scenarios, async ({ stage, of, endpoint, lies }) => {
      const vault = stages[stage] as Stage
      const endpoints = endpointsOf(vault.address, of.address)
      const { contract, method, path, body } = endpoints[endpoint % endpoints.length] as Endpoint
      applyLies(service, lies)
      const asking = service.call(method, path, { key: vault.key, ...(body && { body }) })
      // The client package throws if the false data contradict each other about the payment. The test expects that
      // error.
      const reply = await asking.catch((error: Error) => {
        if (!error.message.endsWith('the vault might pay less.')) throw error
      })
      if (!reply) return
      if (reply.status !== 200) {
        expect(reply.body.code).not.toBe('internal')
        expect(listErrors(contract)).toContain(reply.body.code)
        return
      }
      expect(contract.response.safeDecode(reply.body).error).toBeUndefined()
      if (body) expectOwn(reply, vault, of.address)
    })
    await fc.assert(property, { numRuns: scaleSampleCount(RUNS) })
  })

  test('is never shown with zeros for failed calls', async ({ service, stages }) => {
    // Three kinds of vaults are tested: Lagoon v0.6, ERC-7540 with the id 0 for all requests, and synchronous.
    for (const vault of [stages[2], stages[5], stages[8]] as Stage[]) {
      for (const { method, path } of endpointsOf(vault.address, ALICE.address).filter(({ body }) => !body)) {
        const ask = () => service.call(method, path, { key: vault.key })
        applyLies(service, { views: {}, words: [], simulation: 'true' })
        const truth = new Map(leaves((await ask()).body))
        for (const view of VIEWS) {
          applyLies(service, { views: { [view]: 'nothing' }, words: [], simulation: 'true' })
          const { status, body } = await ask()
          if (body.code === 'upstream_bad_answer') continue
          for (const [at, value] of status === 200 ? leaves(body) : []) {
            if (value !== 'null' && !VARYING.test(at)) expect([at, value], view).toEqual([at, truth.get(at)])
          }
        }
      }
    }
  })
})

/** Names of values that are not compared, because they differ between two reads or report data that could not be read. */
const VARYING = /timestamp|requestId|apy|annualYield|growth|nextPoll|asOf|sharePriceHistory|missing|errors/i

function leaves(value: unknown, path = ''): [string, string][] {
  if (value === null || typeof value !== 'object') return [[path, String(value)]]
  return Object.entries(value).flatMap(([key, one]) => leaves(one, `${path}.${key}`))
}
