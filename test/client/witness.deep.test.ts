import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { toFunctionSelector } from 'viem'
import { describe, expect, onTestFinished } from 'vitest'
import * as z from 'zod'
import { describeAnswer } from '../../client/src/command.ts'
import { contentDigest, type Exchange } from '../../client/src/signature.ts'
import { type Preparation, type Trust, verifyAnswer, verifyTransactions } from '../../client/src/verify.ts'
import { createWitness, type OwnNode, type Witnessed } from '../../client/src/witness.ts'
import type { LocalChain } from '../../sandbox/chains.ts'
import { overrideStorage, readStateChanges } from '../support/lies.ts'
import {
  type PreparedResponse,
  type RecordedResponse,
  recordResponses,
  requestEveryOperation,
} from '../support/prepared-answers.ts'
import { test as base, type Service, startNewContainers, USERS } from '../support/service.ts'
import { openAsyncVault, openLagoonVault, openYieldVault, ROLES } from '../support/vaults.ts'
import { startRecordingProxy } from '../support/wire.ts'

const [ALICE] = USERS
const BASE = 8453
const ONE = 10n ** 6n

const urlsOf = (service: Service) =>
  Object.fromEntries(service.backends.chains.map(({ chainId, rpcUrl }) => [chainId, rpcUrl]))
const mostSentOf = ({ answer }: Pick<RecordedResponse, 'answer'>) =>
  BigInt((answer['quote'] as { inputAmount?: string } | undefined)?.inputAmount ?? 0)

async function witnessOf(node: OwnNode, { preparation, input, answer }: Omit<RecordedResponse, 'exchange' | 'vault'>) {
  const verdict = verifyTransactions(preparation, input, answer, undefined, mostSentOf({ answer }))
  if (!verdict.ok) throw new Error(verdict.message)
  return await createWitness(node)({ preparation, input, answer, steps: verdict.steps }).then(
    (witnessed) => ({ ...witnessed, reason: undefined }),
    ({ reason, message }: { reason: string; message: string }) => ({ reason, message }),
  )
}

const withoutSimulation: typeof fetch = async (url, init) =>
  String(init?.body).includes('eth_simulateV1')
    ? Response.json({ id: 1, error: { code: -32_601, message: 'the method eth_simulateV1 does not exist' } })
    : fetch(url, init)

type WitnessRun = {
  readonly one: RecordedResponse
  readonly result: Awaited<ReturnType<typeof witnessOf>>
  readonly name: string
}
const test = base.extend('played', { scope: 'file' }, async ({ sharedService }) => {
  const simulated: WitnessRun[] = []
  const unsimulated: WitnessRun[] = []
  const lied: WitnessRun[] = []
  const url = urlsOf(sharedService)
  const { service } = recordResponses(sharedService, async (one) => {
    const name = `${one.preparation} ${one.vault.protocol} ${JSON.stringify(one.input)}`
    simulated.push({ one, name, result: await witnessOf({ url }, one) })
    unsimulated.push({ one, name, result: await witnessOf({ url, fetch: withoutSimulation }, one) })
    for (const answer of liesOf(one.answer)) {
      const verdict = verifyTransactions(one.preparation, one.input, answer, undefined, mostSentOf({ answer }))
      if (verdict.ok)
        lied.push({ one, name: `${name} ${figuresOf(answer)}`, result: await witnessOf({ url }, { ...one, answer }) })
    }
  })
  await requestEveryOperation(service)
  return { simulated, fallen: unsimulated, lied }
})

const FIGURES = ['deposit', 'withdrawal', 'claimable', 'cancelled'] as const
const figuresOf = (answer: PreparedResponse) => JSON.stringify(FIGURES.map((name) => answer[name]))

/** Returns false copies of the response: in each, one amount of shares or assets is 2 % or 200 % too large. */
function liesOf(answer: PreparedResponse): PreparedResponse[] {
  return FIGURES.flatMap((name) => {
    // The user's own node cannot check the result on another chain.
    if (name === 'deposit' && answer['isCrossChain']) return []
    const figures = answer[name] as Record<string, unknown> | undefined
    const names = ['shares', 'assets', 'claimedAssets'].filter((field) => BigInt(String(figures?.[field] ?? 0)) > 100n)
    return names.flatMap((field) =>
      [102n, 300n].map((percent) => {
        const changed = (BigInt(String(figures?.[field])) * percent) / 100n
        return { ...answer, [name]: { ...figures, [field]: `${changed}` } }
      }),
    )
  })
}

const Call = z.looseObject({ logs: z.array(z.unknown()) })
const Simulated = z.looseObject({
  result: z.union([z.array(z.looseObject({ calls: z.array(Call) })), z.string()]),
})

const succeeds = ({ one }: WitnessRun) => (one.answer['simulation'] as { status: string }).status === 'success'

describe("A wallet's own node", () => {
  test('confirms every kind of honest response by a dry run, and refuses those that revert', ({ played }) => {
    const { simulated } = played
    expect(simulated.length).toBeGreaterThan(20)
    for (const one of simulated) {
      const expected = succeeds(one) ? { isSimulated: true, reason: undefined } : { reason: 'reverted' }
      expect({ name: one.name, ...one.result }).toMatchObject({ name: one.name, ...expected })
    }
    const notes = simulated.flatMap(({ result }) => ('notes' in result ? result.notes : []))
    // The verdict may only note that the other chain was not checked.
    expect(notes.filter((note) => !/chain/.test(note))).toEqual([])
  })

  test('refuses a response with a figure that is two percent more or tripled', ({ played }) => {
    expect(played.lied.length).toBeGreaterThan(20)
    for (const { name, result, one } of played.lied) {
      expect({ name, ...result }).toMatchObject({
        name,
        reason: succeeds({ one, result, name }) ? 'wrong_amounts' : 'reverted',
      })
    }
  })

  test("that cannot simulate says so in each note, and confirms the vault's figures", ({ played }) => {
    for (const one of played.fallen.filter(succeeds)) {
      expect({ name: one.name, ...one.result }).toMatchObject({ name: one.name, isSimulated: false })
      expect((one.result as Witnessed).notes[0]).toContain('Your node cannot simulate with logs (eth_simulateV1)')
    }
  })
})

/** Sends a request with a content digest, so that the service signs its response. Returns request and response. */
async function ask(service: Service, path: string, key: string, input: Record<string, unknown>): Promise<Exchange> {
  const url = `${service.baseUrl}/defi-vaults/v1/defi/vault/${path}`
  const body = JSON.stringify(input)
  const headers = { 'x-join-key': key, 'content-type': 'application/json', 'content-digest': await contentDigest(body) }
  const reply = await fetch(url, { method: 'POST', headers, body })
  const text = await reply.text()
  expect([reply.status, text]).toEqual([200, expect.any(String)])
  const answer = { status: reply.status, headers: Object.fromEntries(reply.headers), body: text }
  return { request: { method: 'POST', url, body }, answer }
}

describe('Two hosts that tell the same lie about the price', () => {
  test("pass the pattern with three times the shares, and are refused by the wallet's own node", async ({
    service,
  }) => {
    const lagoon = await openLagoonVault(service, { generation: '0.5' })
    await lagoon.request(ALICE.address, 300n * ONE)
    await lagoon.settle()
    await lagoon.act(ALICE.address, 'deposit', 300n * ONE, ALICE.address, ALICE.address)
    const { chain } = lagoon
    const lie = await readStateChanges(chain, async () => {
      await lagoon.act(ROLES.valuationManager, 'updateNewTotalAssets', 100n * ONE)
      await lagoon.act(ROLES.safe, 'settleDeposit', 100n * ONE)
    })
    const [first, second] = await Promise.all([startRecordingProxy(chain.rpcUrl), startRecordingProxy(chain.rpcUrl)])
    const hosts = [first, second]
    for (const host of hosts) onTestFinished(host.stop)
    service.backends.setRpcUrls({ [BASE]: [first.url, second.url] })
    const { service: cold, stop } = await startNewContainers(service)
    onTestFinished(stop)

    const input = { vaultAddress: lagoon.address, userAddress: ALICE.address, amount: `${30n * ONE}` }
    const pattern: Trust = { keys: [service.backends.signingKey] }
    const trust: Trust = { ...pattern, witness: createWitness({ url: chain.rpcUrl }) }
    const honest = await ask(cold, 'withdraw', lagoon.key, input)
    expect(await verifyAnswer(honest, trust)).toMatchObject({
      ...{ ok: true, witnessed: { chainId: BASE, isSimulated: true, notes: [] } },
    })

    for (const host of hosts) overrideStorage(host, lie)
    service.pass(5)
    const lied = await ask(cold, 'withdraw', lagoon.key, input)
    const sharesOf = ({ answer }: Exchange) => BigInt(JSON.parse(String(answer.body)).withdrawal.shares)
    expect(Number(sharesOf(lied)) / Number(sharesOf(honest))).toBeCloseTo(3, 3)
    expect(await verifyAnswer(lied, pattern)).toMatchObject({ ok: true })
    for (const witness of [trust.witness, createWitness({ url: chain.rpcUrl, fetch: withoutSimulation })]) {
      expect(await verifyAnswer(lied, { ...trust, witness })).toMatchObject({
        ...{ ok: false, reason: 'wrong_amounts', message: expect.stringContaining('the shares that the amount takes') },
      })
    }
    // `lax` tolerates a difference of 99 % between the response and the user's own node.
    const lax = createWitness({ url: chain.rpcUrl, tolerancePercent: 99 })
    expect(await verifyAnswer(honest, { ...trust, witness: lax })).toMatchObject({ ok: true })
  })
})

describe('A response', () => {
  /**
   * Prepares a withdrawal from a savings vault. `spend` transfers the user's shares away afterwards, so the withdrawal would
   * revert.
   */
  async function withdrawal(
    service: Service,
  ): Promise<{ one: RecordedResponse; chain: LocalChain; spend: () => Promise<unknown> }> {
    const { recorded, service: listening } = recordResponses(service)
    const savings = await openYieldVault(listening)
    await savings.mint(ALICE.address, 100n * ONE)
    await savings.approve(ALICE.address, 100n * ONE)
    await savings.act(ALICE.address, 'deposit', 100n * ONE, ALICE.address)
    await savings.withdraw(ALICE, { amount: `${7n * ONE}` })
    const spend = () => savings.act(ALICE.address, 'transfer', ROLES.safe, 100n * ONE)
    return { one: recorded[0] as RecordedResponse, chain: savings.chain, spend }
  }

  test('is refused if the node is of another chain, is missing, or does not respond', async ({ service }) => {
    const { one, chain } = await withdrawal(service)
    const { 42161: arbitrum = '' } = urlsOf(service)
    expect(await witnessOf({ url: chain.rpcUrl }, one)).toMatchObject({ reason: undefined })
    expect(await witnessOf({ url: arbitrum }, one)).toMatchObject({
      ...{ reason: 'wrong_chain', message: 'Your node is of chain 42161; the transactions are for 8453.' },
    })
    expect(await witnessOf({ url: { 42161: arbitrum } }, one)).toMatchObject({ reason: 'wrong_chain' })
    const keyed = 'http://127.0.0.1:1/secret'
    const silent = await witnessOf({ url: keyed }, one)
    expect(silent).toMatchObject({ reason: 'node_failed' })
    expect(JSON.stringify(silent)).not.toContain('secret')
    const odd = [null, 5, 'x', {}, { result: null }, { result: '0x' }, { result: '0x2105', error: null }]
    for (const reply of odd) {
      expect(await witnessOf({ url: keyed, fetch: async () => Response.json(reply) }, one)).toMatchObject({
        reason: 'node_failed',
      })
    }
  })

  test('is refused if its transactions revert at the node, even one that cannot simulate', async ({ service }) => {
    const { one, chain, spend } = await withdrawal(service)
    await spend()
    for (const more of [{}, { fetch: withoutSimulation }]) {
      expect(await witnessOf({ url: chain.rpcUrl, ...more }, one)).toMatchObject({
        ...{ reason: 'reverted', message: expect.stringMatching(/^Transaction 1 reverts at your node: /) },
      })
    }
  })

  test('is refused if the dry run moves another token out of the account', async ({ service }) => {
    const { one, chain } = await withdrawal(service)
    const user = `0x${ALICE.address.slice(2).toLowerCase().padStart(64, '0')}`
    const topic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
    const log = {
      address: `0x${'5'.repeat(40)}`,
      topics: [topic, user, `0x${'0'.repeat(64)}`],
      data: `0x${'1'.repeat(64)}`,
    }
    const taking: typeof fetch = async (url, init) => {
      const reply = Simulated.parse(await (await fetch(url, init)).json())
      const blocks = Array.isArray(reply.result) ? reply.result : []
      for (const call of blocks.flatMap(({ calls }) => calls.slice(-1))) call.logs.push(log)
      return Response.json(reply)
    }
    expect(await witnessOf({ url: chain.rpcUrl, fetch: taking }, one)).toMatchObject({
      ...{ reason: 'wrong_amounts', message: expect.stringContaining('would leave the user') },
    })
  })

  test('is refused if a withdrawal approves another token than the shares', async ({ service }) => {
    const { recorded, service: listening } = recordResponses(service)
    const vault = await openAsyncVault(listening, { make: 'aggregated' })
    await vault.mint(ALICE.address, 100n * ONE)
    await vault.send(ALICE, await vault.deposit(ALICE, 100n * ONE))
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 100n * ONE, 100n * ONE)
    await vault.send(ALICE, await vault.claim(ALICE))
    await vault.withdraw(ALICE, { shares: `${20n * ONE}` })
    const one = recorded.at(-1) as RecordedResponse
    const spender = vault.address.slice(2).toLowerCase().padStart(64, '0')
    const data = `0x095ea7b3${spender}${(20n * ONE).toString(16).padStart(64, '0')}`
    const approving = (to: string) => {
      const approval = [{ chainId: BASE, to, data, value: '0' }]
      const transactions = [...approval, ...one.answer.operations]
      const calls = transactions.map((call) => ({ to: call.to, data: call.data, value: '0x0' }))
      const answer = { ...one.answer, approval }
      return { ...one, answer: { ...answer, calls: { ...one.answer.calls, atomicRequired: true, calls } } }
    }
    for (const more of [{}, { fetch: withoutSimulation }]) {
      const node = { url: vault.chain.rpcUrl, ...more }
      expect(await witnessOf(node, approving(vault.share))).toMatchObject({ reason: undefined })
      expect(await witnessOf(node, approving(vault.token))).toMatchObject({
        ...{ reason: 'wrong_amounts', message: 'The approval is of another token than the transactions take.' },
      })
    }
  })

  test('is confirmed without simulation by a node whose dry run lacks logs', async ({ service }) => {
    const { one, chain } = await withdrawal(service)
    const withoutLogs: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      if (!String(init?.body).includes('eth_simulateV1')) return response
      const { result, ...reply } = Simulated.parse(await response.json())
      const blocks = Array.isArray(result) ? result : []
      const others = blocks.map(({ calls }) => ({ calls: calls.map(({ logs: _, ...call }) => call) }))
      return Response.json({ ...reply, result: others })
    }
    const result = await witnessOf({ url: chain.rpcUrl, fetch: withoutLogs }, one)
    expect(result).toMatchObject({ reason: undefined, isSimulated: false })
  })

  test('of a vault with fees, other decimals or another implementation is confirmed', async ({ service }) => {
    const results: unknown[] = []
    const { service: listening } = recordResponses(service, async (one) => {
      for (const more of [{}, { fetch: withoutSimulation }])
        results.push(await witnessOf({ url: urlsOf(service), ...more }, one))
    })
    const fees = await openYieldVault(listening, { make: 'exitFee', asset: 'DAI' })
    await fees.mint(ALICE.address, fees.units('100'))
    await fees.approve(ALICE.address, fees.units('100'))
    await fees.act(ALICE.address, 'deposit', fees.units('100'), ALICE.address)
    for (const amount of [{ amount: `${fees.units('7')}` }, { shares: `${fees.units('7')}` }, { max: true }]) {
      await fees.withdraw(ALICE, amount)
    }
    const rates = { entryRate: 150, exitRate: 150, haircutRate: 1_500 }
    const lagoon = await openLagoonVault(listening, { generation: '0.6', ...rates })
    await lagoon.mint(ALICE.address, 900n * ONE)
    await lagoon.settleForADay()
    await lagoon.send(ALICE, await lagoon.deposit(ALICE, 300n * ONE))
    for (const amount of [{ amount: `${20n * ONE}` }, { shares: `${20n * 10n ** 18n}` }, { max: true }]) {
      await lagoon.withdraw(ALICE, amount)
    }
    await lagoon.act(ROLES.safe, 'expireTotalAssets')
    for (const amount of [{ amount: `${20n * ONE}` }, { shares: `${20n * 10n ** 18n}` }, { max: true }]) {
      await lagoon.withdraw(ALICE, amount)
    }
    for (const make of ['counted', 'redemptions'] as const) {
      const vault = await openAsyncVault(listening, { make, shareDecimals: 18 })
      await vault.mint(ALICE.address, 100n * ONE)
      await vault.send(ALICE, await vault.deposit(ALICE, 100n * ONE))
      await vault.cancel(ALICE)
      await vault.withdraw(ALICE, { amount: `${20n * ONE}` })
    }
    const paying = await openAsyncVault(listening, { make: 'deposits' })
    await paying.mint(ALICE.address, 100n * ONE)
    await paying.send(ALICE, await paying.deposit(ALICE, 100n * ONE))
    await paying.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 100n * ONE, 90n * ONE)
    await paying.withdraw(ALICE, { max: true })
    await paying.send(ALICE, await paying.claim(ALICE))
    for (const amount of [{ amount: `${20n * ONE}` }, { shares: `${20n * ONE}` }, { max: true }]) {
      await paying.withdraw(ALICE, amount)
    }
    expect(results.length).toBeGreaterThan(20)
    for (const one of results) expect(one).toMatchObject({ reason: undefined })
  })
})

describe('The command', () => {
  test('checks at the node of --rpc, and refuses what it does not confirm', async ({ service }) => {
    const { recorded, service: listening } = recordResponses(service)
    const savings = await openYieldVault(listening)
    await savings.mint(ALICE.address, 100n * ONE)
    await savings.deposit(ALICE, 100n * ONE)
    const [{ exchange }] = recorded as [RecordedResponse]
    const input = { keys: JSON.stringify(service.backends.signingKey), answer: JSON.stringify(exchange) }
    const url = savings.chain.rpcUrl
    const good = await describeAnswer({ ...input, rpc: url, tolerance: '0.5' }, new Date())
    expect(good).toMatchObject({ code: 0 })
    expect(good.lines).toContain('Your node of chain 8453 confirms them by a dry run.')
    const { 42161: other = '' } = urlsOf(service)
    const wrong = await describeAnswer({ ...input, rpc: other }, new Date())
    expect(wrong.code).toBe(1)
    expect(wrong.lines[0]).toMatch(/^REFUSED \(wrong_chain\): /)
    for (const [more, message] of [
      [{ rpc: 'nowhere' }, '--rpc'],
      [{ rpc: url, tolerance: 'much' }, '--tolerance'],
      [{ tolerance: '1' }, '--tolerance'],
    ] as const) {
      await expect(describeAnswer({ ...input, ...more }, new Date())).rejects.toThrow(message)
    }
  })
})

describe('The entry', () => {
  test('takes a tolerance from 0 to below 100', () => {
    for (const tolerancePercent of [-1, 100, Number.NaN]) {
      expect(() => createWitness({ url: 'https://node.example', tolerancePercent })).toThrow(RangeError)
    }
  })

  test('calls each view by the selector of its signature', async () => {
    const one = { preparation: 'cancel', input: {}, answer: {} } as const
    const bodies: string[] = []
    const listening: typeof fetch = async (_, init) => {
      bodies.push(String(init?.body))
      return Response.json({ result: '0x2105' })
    }
    const of = { userAddress: ALICE.address, vaultAddress: ALICE.address, amount: '5' }
    const preparedResponse = { chainId: BASE, withdrawal: { shares: '5' }, approval: [], operations: [] }
    for (const preparation of ['deposit', 'withdraw', 'cancel'] satisfies Preparation[]) {
      const answer = { ...one, preparation, input: of, answer: preparedResponse, steps: [] }
      await createWitness({ url: 'https://node.example', fetch: listening })(answer).catch(() => {})
    }
    const selectors = new Set(bodies.join().match(/(?<="data":")0x\w{8}/g))
    const signatures = [
      ...['asset()', 'share()', 'feeRates()', 'previewDeposit(uint256)', 'previewWithdraw(uint256)'],
      ...['previewRedeem(uint256)', 'convertToAssets(uint256)', 'convertToShares(uint256)'],
      ...['pendingDepositRequest(uint256,address)', 'pendingRedeemRequest(uint256,address)'],
      ...['claimableCancelDepositRequest(uint256,address)', 'claimableCancelRedeemRequest(uint256,address)'],
    ]
    expect(selectors).toEqual(new Set(signatures.map((signature) => toFunctionSelector(signature))))
  })

  test('is at most 5 kB, with nothing beside it', async () => {
    const { outputFiles, metafile } = await build({
      stdin: { contents: "export * from './witness.ts'", resolveDir: 'client/src', loader: 'ts' },
      ...{ bundle: true, minify: true, format: 'esm', write: false, metafile: true },
    })
    expect(Object.keys(metafile.inputs).filter((file) => file.includes('node_modules'))).toEqual([])
    expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThan(5000)
  })
})
