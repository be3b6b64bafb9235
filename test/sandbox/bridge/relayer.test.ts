import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFunctionData, type Hash } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { installPool, relayHashOf, spokePoolAbi } from '../../../sandbox/bridge.ts'
import { type Providers, startProviders } from '../../../sandbox/providers.ts'
import { createRelayer } from '../../../sandbox/relayer.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { ALICE, approval, BOB, callOf, messageOf, openBridge, RELAYER, STRANGER, transferOf } from './harness.ts'

let bridge: Awaited<ReturnType<typeof openBridge>>
let providers: Providers
beforeAll(async () => {
  bridge = await openBridge()
  const { origin, destination, relayer } = bridge
  const chains = [origin, destination].map(({ chain }) => ({ ...chain, tokens: [] }))
  providers = await startProviders({ secrets: {}, chains, relayer })
})
afterAll(async () => {
  await providers.stop()
  await bridge.stop()
})
// What a test leaves waiting is not the next one's business.
afterEach(() => bridge.relayer.fillAll())

type Report = {
  readonly address: string
  readonly running: boolean
  readonly delaySeconds: number
  readonly batchSize: number
  readonly deposits: readonly {
    readonly depositId: string
    readonly state: string
    readonly fillTransaction: Hash | null
    readonly refundTransaction: Hash | null
  }[]
  readonly commands: Readonly<Record<string, string>>
}

const post = (command: string, body: unknown) =>
  fetch(`${providers.url}/relayer/${command}`, { method: 'POST', body: JSON.stringify(body) })
/** A command as anybody gives it, and what the relayer reports after it. */
const tell = async (command: string, body: unknown = {}): Promise<Report> => {
  const response = await post(command, body)
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text)
}
const refused = async (command: string, body: unknown = {}) => (await post(command, body)).status
const report = async (): Promise<Report> => JSON.parse(await (await fetch(`${providers.url}/relayer`)).text())
const stateOf = async ({ originChainId, depositId }: { originChainId: number; depositId: bigint }) =>
  (await bridge.relayer.look({ originChainId, depositId })).map(({ state }) => state)[0]
const depositSeveral = async (count: number) => {
  const deposits = []
  for (let i = 0; i < count; i += 1) deposits.push(await bridge.deposit())
  return deposits
}
const naming = ({ depositId }: { depositId: bigint }) => ({ depositId: depositId.toString(), originChainId: 8453 })

describe('filling', () => {
  test('fills every deposit with exactly its parameters, in order, in both directions', async () => {
    const { origin, destination, relayer } = bridge
    const there = [await bridge.deposit({ recipient: BOB, message: '0x11' }), await bridge.deposit({ recipient: BOB })]
    const back = await bridge.deposit({ recipient: BOB }, destination, origin)
    const [bobThere, bobBack] = [await destination.balanceOf(BOB), await origin.balanceOf(BOB)]
    const filled = await relayer.fillAll()
    expect(filled.map(({ deposit }) => deposit)).toEqual([...there, back])
    expect(await destination.balanceOf(BOB)).toBe(bobThere + destination.units('199.8'))
    expect(await origin.balanceOf(BOB)).toBe(bobBack + origin.units('99.9'))
    for (const deposit of there) expect(await destination.fillStatus(relayHashOf(deposit))).toBe(2n)

    const events = await Promise.all(filled.slice(0, 2).map((relay) => destination.eventsOf(relay.fillTransaction)))
    expect(events.map(([fill]) => fill?.args['depositId'])).toEqual(there.map(({ depositId }) => depositId))
    expect(await relayer.fillAll()).toEqual([])
  })

  test('fills each of several deposits of one transaction, and deposits of old and unsafe ones', async () => {
    const { origin, relayer } = bridge
    await bridge.deposit()
    const args = await bridge.argsOf({ inputAmount: 1n, outputAmount: 1n })
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'depositV3', args })
    await origin.mint(ALICE, 2n)
    await origin.act(ALICE, origin.usdc, approval(origin.pool, 2n))
    const multicall = encodeFunctionData({ abi: spokePoolAbi, functionName: 'multicall', args: [[data, data]] })
    const [transactionHash = '0x'] = await origin.act(ALICE, origin.pool, multicall)
    await installPool(origin.chain, { contract: 'LegacySpokePool' })
    const old = await bridge.deposit()
    await installPool(origin.chain)
    expect(await relayer.fillAll()).toHaveLength(4)
    expect(await relayer.look({ transactionHash })).toMatchObject([{ state: 'filled' }, { state: 'filled' }])
    expect(await stateOf(old)).toBe('filled')
  })

  test('goes on past a deposit that cannot be filled, says why, and tries it again', async () => {
    const { destination, relayer } = bridge
    const { usdc, handler } = destination
    const message = messageOf([callOf(usdc, transferOf(BOB, destination.units('150')))], `0x${'00'.repeat(20)}`)
    const stuck = await bridge.deposit({ recipient: handler, message })
    const next = await bridge.deposit()
    expect((await relayer.fillAll()).map(({ deposit }) => deposit)).toEqual([next])
    expect(await relayer.look({ depositId: stuck.depositId })).toMatchObject([
      { state: 'waiting', trouble: expect.stringContaining('CallReverted') },
    ])
    await expect(relayer.fill(stuck)).rejects.toThrow(`refuses to fill deposit ${stuck.depositId}: CallReverted`)
    await destination.mint(handler, destination.units('60'))
    expect((await relayer.fillAll()).map(({ deposit }) => deposit)).toEqual([stuck])
    const [mended] = await relayer.look({ depositId: stuck.depositId })
    expect(mended?.trouble).toBeUndefined()
  })

  test('notices that somebody else was faster, and leaves deposits to nowhere alone', async () => {
    const { destination, relayer } = bridge
    const deposit = await bridge.deposit()
    const args = bridge.fillArgs(deposit)
    await destination.act(
      RELAYER,
      destination.pool,
      encodeFunctionData({ abi: spokePoolAbi, functionName: 'fillRelay', args }),
    )
    const nowhere = await bridge.deposit({ destinationChainId: 10 })
    expect(await relayer.fillAll()).toEqual([])
    expect([await stateOf(deposit), await stateOf(nowhere)]).toEqual(['filled', 'stranded'])
    await expect(relayer.fill(nowhere)).rejects.toThrow('Nobody fills on chain 10')
  })

  test('a new relayer finds what an earlier one left', async () => {
    const { origin, destination, relayer } = bridge
    const done = await bridge.deposit()
    await relayer.fill(done)
    const left = await bridge.deposit()
    const second = createRelayer({ chains: [origin.chain, destination.chain] })
    const filled = await second.fillAll()
    expect(filled.map(({ deposit }) => deposit)).toEqual([left])
    expect(await second.look({ depositId: done.depositId })).toMatchObject([{ state: 'filled' }])
  })

  test('a chain that was set back is read again', async () => {
    const { origin, relayer } = bridge
    const [snapshot] = await callRpc(origin.chain, [{ method: 'evm_snapshot', params: [] }])
    const undone = await bridge.deposit()
    await bridge.deposit()
    await relayer.look()
    await callRpc(origin.chain, [{ method: 'evm_revert', params: [snapshot] }])
    const deposit = await bridge.deposit({ outputAmount: 7n })
    expect(deposit.depositId).toBe(undone.depositId)
    expect((await relayer.fillAll()).map((relay) => relay.deposit)).toEqual([deposit])
  })

  test('together, several are filled in one transaction per destination', async () => {
    const { origin, destination, relayer } = bridge
    const there = await depositSeveral(2)
    await bridge.deposit({}, destination, origin)
    const [first, second, ...more] = await relayer.fillTogether()
    expect(more).toEqual([])
    const fills = (await destination.eventsOf(first)).filter(({ eventName }) => eventName === 'FilledRelay')
    expect(fills.map(({ args }) => args['depositId'])).toEqual(there.map(({ depositId }) => depositId))
    expect(await origin.eventsOf(second)).toHaveLength(2)
  })
})

describe('over HTTP', () => {
  test('it says how it works, what it knows, and what it can be told', async () => {
    const [deposit] = await depositSeveral(1)
    const { address, running, delaySeconds, batchSize, deposits, commands } = await report()
    expect({ address, running, delaySeconds, batchSize }).toEqual({
      address: RELAYER,
      running: true,
      delaySeconds: 0,
      batchSize: 1,
    })
    expect(deposits.at(-1)).toEqual({
      originChainId: 8453,
      depositId: deposit?.depositId.toString(),
      destinationChainId: 42161,
      state: 'waiting',
      inputAmount: '100000000',
      outputAmount: '99900000',
      fillDeadline: new Date((deposit?.fillDeadline ?? 0) * 1000).toISOString(),
      relayHash: deposit && relayHashOf(deposit),
      depositTransaction: deposit?.transactionHash,
      fillTransaction: null,
      refundTransaction: null,
    })
    const names = Object.keys(commands).map((command) => command.split(' ')[1])
    for (const name of names.slice(1)) expect(await refused(String(name).slice('/relayer/'.length), { x: 1 })).toBe(400)
  })

  test('it fills one deposit, all of them, or all of them together', async () => {
    const [first, second] = await depositSeveral(2)
    if (!first || !second) throw new Error('No deposits')
    await tell('fill', naming(second))
    expect([await stateOf(first), await stateOf(second)]).toEqual(['waiting', 'filled'])
    await tell('fill')
    expect(await stateOf(first)).toBe('filled')
    await depositSeveral(2)
    const { deposits } = await tell('fill', { together: true })
    const [one, other] = deposits.slice(-2)
    expect(one?.fillTransaction).toMatch(/^0x/)
    expect(one?.fillTransaction).toBe(other?.fillTransaction)
  })

  test('it refuses what makes no sense', async () => {
    expect(await refused('ignore', {})).toBe(400)
    expect(await refused('settings', { delaySeconds: -1 })).toBe(400)
    expect(await refused('fill', { depositId: '99999999' })).toBe(409)
    expect(await refused('dance')).toBe(404)
    expect(await refused('constructor')).toBe(404)
    expect((await fetch(`${providers.url}/relayer/stop`)).status).toBe(404)
    expect((await fetch(`${providers.url}/relayer/stop`, { method: 'POST', body: '{' })).status).toBe(400)
    const [deposit] = await depositSeveral(1)
    expect(await refused('refund', { depositId: deposit?.depositId.toString() })).toBe(409)
  })

  test('it lets a deposit expire, or the next one, and pays it back to the depositor on the origin', async () => {
    const { origin, destination } = bridge
    const known = await bridge.deposit({ deadlineIn: 1000 })
    await tell('ignore', naming(known))
    await tell('ignore', { depositId: 'next' })
    const next = await bridge.deposit({ deadlineIn: 1000, recipient: BOB })
    const after = await bridge.deposit()
    await tell('fill')
    expect(await Promise.all([known, next, after].map(stateOf))).toEqual(['ignored', 'ignored', 'filled'])

    await tell('advance', { seconds: 2000 })
    expect(await Promise.all([known, next].map(stateOf))).toEqual(['expired', 'expired'])
    expect(await destination.refusal(RELAYER, 'fillRelay', bridge.fillArgs(next))).toBe('ExpiredFillDeadline')
    const before = await origin.balanceOf(ALICE)
    await tell('refund', naming(known))
    const { deposits } = await tell('refund')
    expect(await origin.balanceOf(ALICE)).toBe(before + origin.units('200'))
    const [refunded] = deposits.filter(({ depositId }) => depositId === `${next.depositId}`)
    expect(refunded).toMatchObject({ state: 'refunded', fillTransaction: null })
    const events = await origin.eventsOf(refunded?.refundTransaction ?? '0x')
    expect(events.at(-1)).toMatchObject({
      eventName: 'ExecutedRelayerRefundRoot',
      args: { refundAddresses: [ALICE], refundAmounts: [origin.units('100')], l2TokenAddress: origin.usdc },
    })
    expect(await refused('refund', naming(next))).toBe(409)
  })

  test('it has the depositor claim a deferred refund, which a leaf that was executed has not paid', async () => {
    const { origin, relayer } = bridge
    await tell('ignore', { depositId: 'next' })
    const deposit = await bridge.deposit({ deadlineIn: 100 })
    await tell('advance', { seconds: 200 })
    const before = await origin.balanceOf(ALICE)
    await tell('refund', { ...naming(deposit), deferred: true })
    expect([await stateOf(deposit), await origin.balanceOf(ALICE)]).toEqual(['refund_deferred', before])
    const [{ refundTransaction } = {}] = await relayer.look({ depositId: deposit.depositId })
    const [told] = await origin.eventsOf(refundTransaction)
    expect(told).toMatchObject({ eventName: 'ExecutedRelayerRefundRoot', args: { deferredRefunds: true } })
    await tell('claim', naming(deposit))
    expect(await stateOf(deposit)).toBe('refunded')
    expect(await origin.balanceOf(ALICE)).toBe(before + deposit.inputAmount)
    expect(await refused('claim', naming(deposit))).toBe(409)
  })

  test('it pays several deposits back with one bundle, of as many leaves as it is told', async () => {
    const { origin, destination, relayer } = bridge
    const mine = [await bridge.deposit({ deadlineIn: 100 }), await bridge.deposit({ deadlineIn: 100 })]
    const bobs = await bridge.deposit({ deadlineIn: 100, depositor: BOB })
    const back = await bridge.deposit({ deadlineIn: 100 }, destination, origin)
    await tell('advance', { seconds: 200 })
    const payments = [{ chainId: 8453, token: origin.usdc, account: STRANGER, amount: 1n }]
    const all = [...mine, bobs, back]
    const [first, second, third, ofBack] = await relayer.refundTogether(all, { payments, paymentsPerLeaf: 1 })
    const leaves = await Promise.all([first, second, third].map((hash) => origin.eventsOf(hash)))
    // One amount to each account, whatever it is for.
    expect(leaves.map((events) => events.at(-1)?.args)).toMatchObject([
      { leafId: 0, refundAddresses: [ALICE], refundAmounts: [origin.units('200')] },
      { leafId: 1, refundAddresses: [BOB], refundAmounts: [origin.units('100')] },
      { leafId: 2, refundAddresses: [STRANGER], refundAmounts: [1n] },
    ])
    expect((await destination.eventsOf(ofBack)).at(-1)?.args).toMatchObject({ refundAddresses: [ALICE] })
    expect(await Promise.all(all.map(stateOf))).toEqual(['refunded', 'refunded', 'refunded', 'refunded'])
  })

  test('it has a depositor agree to less, and fills so: the least that anybody was told, and not more than before', async () => {
    const { destination, relayer } = bridge
    const [plain, changed] = [await bridge.deposit(), await bridge.deposit({ recipient: destination.handler })]
    await relayer.speedUp(plain, { outputAmount: plain.outputAmount })
    await tell('speed-up', { ...naming(changed), outputAmount: '99000000', recipient: STRANGER })
    await tell('speed-up', { ...naming(changed), outputAmount: '99000001', recipient: BOB })
    const before = await destination.balanceOf(STRANGER)
    await tell('fill')
    expect(await destination.balanceOf(STRANGER)).toBe(before + 99_000_000n)
    const relays = await Promise.all([plain, changed].map(({ depositId }) => relayer.look({ depositId })))
    const fills = await Promise.all(relays.map(([relay]) => destination.eventsOf(relay?.fillTransaction)))
    expect(fills.map(([fill]) => fill?.args)).toMatchObject([
      { relayExecutionInfo: { updatedOutputAmount: plain.outputAmount } },
      { relayExecutionInfo: { updatedOutputAmount: 99_000_000n } },
    ])
  })

  test('it pauses a pool, which then takes no deposits or makes no fills', async () => {
    const deposit = await bridge.deposit()
    await tell('pause', { chainId: 42161, what: 'fills', pause: true })
    await expect(bridge.relayer.fill(deposit)).rejects.toThrow('FillsArePaused')
    await tell('pause', { chainId: 42161, what: 'fills', pause: false })
    await bridge.relayer.fill(deposit)
    await tell('pause', { chainId: 8453, what: 'deposits', pause: true })
    const args = await bridge.argsOf()
    expect(await bridge.origin.refusal(ALICE, 'depositV3', args)).toBe('DepositsArePaused')
    await tell('pause', { chainId: 8453, what: 'deposits', pause: false })
  })

  test('it asks for a slow fill, of the next deposit or of one, and makes it later with another amount', async () => {
    const { destination } = bridge
    await tell('slow-fill', { depositId: 'next' })
    const next = await bridge.deposit({ recipient: BOB })
    const known = await bridge.deposit({ recipient: BOB })
    await tell('slow-fill', naming(known))
    await tell('fill')
    await tell('fill')
    expect(await Promise.all([next, known].map(stateOf))).toEqual(['slow_fill_requested', 'slow_fill_requested'])
    const before = await destination.balanceOf(BOB)
    await tell('execute-slow-fill', { ...naming(next), outputAmount: '99990000' })
    await tell('execute-slow-fill', naming(known))
    expect(await destination.balanceOf(BOB)).toBe(before + 99_990_000n + known.outputAmount)
    expect(await Promise.all([next, known].map(stateOf))).toEqual(['slow_filled', 'slow_filled'])
  })
})

describe('running by itself', () => {
  test('it fills late, stops and resumes, and collects a batch', async () => {
    const { origin, destination } = bridge
    const relayer = createRelayer({ chains: [origin.chain, destination.chain] })
    const errors: unknown[] = []
    const isFilled = async (deposit: Parameters<typeof relayHashOf>[0]) =>
      (await destination.fillStatus(relayHashOf(deposit))) === 2n
    relayer.settings.running = false
    relayer.start({ onError: (error) => errors.push(error) })
    try {
      const [first] = await depositSeveral(1)
      if (!first) throw new Error('No deposit')
      await sleep(600)
      expect(await isFilled(first)).toBe(false)
      relayer.settings.running = true
      await expect.poll(() => isFilled(first), { timeout: 3000 }).toBe(true)

      relayer.settings.delaySeconds = 60
      const [late] = await depositSeveral(1)
      if (!late) throw new Error('No deposit')
      await sleep(600)
      expect(await isFilled(late)).toBe(false)

      relayer.settings.batchSize = 3
      relayer.settings.delaySeconds = 0
      await sleep(600)
      expect(await isFilled(late)).toBe(false)
      await depositSeveral(2)
      await expect.poll(() => isFilled(late), { timeout: 3000 }).toBe(true)
      const relays = (await relayer.look()).slice(-3)
      expect(new Set(relays.map(({ fillTransaction }) => fillTransaction)).size).toBe(1)
      expect(errors).toEqual([])
    } finally {
      await relayer.stop()
    }
  })

  test('it goes on when a chain does not answer, and holds up nothing else for a deposit that is refused', async () => {
    const { origin, destination } = bridge
    const { usdc, handler } = destination
    const gone = { chainId: 10, rpcUrl: 'http://127.0.0.1:1', blockSeconds: undefined }
    const relayer = createRelayer({ chains: [origin.chain, gone, destination.chain] })
    const errors: unknown[] = []
    relayer.settings.batchSize = 2
    relayer.start({ onError: (error) => errors.push(error) })
    try {
      const message = messageOf([callOf(usdc, transferOf(STRANGER, 10n ** 30n))], `0x${'00'.repeat(20)}`)
      const stuck = await bridge.deposit({ recipient: handler, message })
      const [fine] = await depositSeveral(1)
      if (!fine) throw new Error('No deposit')
      await expect.poll(() => destination.fillStatus(relayHashOf(fine)), { timeout: 4000 }).toBe(2n)
      expect(await destination.fillStatus(relayHashOf(stuck))).toBe(0n)
      expect(errors.length).toBeGreaterThan(0)
      await bridge.relayer.ignore(stuck)
    } finally {
      await relayer.stop()
    }
  })
})
