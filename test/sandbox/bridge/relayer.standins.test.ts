import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFunctionData, type Hash } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type BridgeDeposit, installPool, relayHashOf, spokePoolAbi } from '../../../sandbox/bridge.ts'
import { type Controls, startControls } from '../../../sandbox/controls.ts'
import { createRelayer } from '../../../sandbox/relayer.ts'
import { createRewardOperator } from '../../../sandbox/rewards.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import {
  ALICE,
  BOB,
  buildMessageCall,
  encodeApproval,
  encodeHandlerMessage,
  openBridge,
  RELAYER,
  transferOf,
} from './harness.ts'

/** Origin of a web page that may call the relayer's control server. */
const PAGE = 'http://localhost:5173'

let bridge: Awaited<ReturnType<typeof openBridge>>
let controls: Controls
beforeAll(async () => {
  bridge = await openBridge()
  const { origin, destination, relayer } = bridge
  const chains = [origin.chain, destination.chain].map((chain) => ({ ...chain, vaults: [], tokens: [], hosts: [] }))
  const curator = { settle: async () => [] }
  const receiver = { behave: () => {}, behaviour: () => 'acknowledge' as const, listArrivals: () => [] }
  const none = { confirmVault: async () => {}, throttle: () => {}, tamper: () => {}, sources: {}, states: [] }
  const rewards = createRewardOperator({ chains: [] })
  const controlled = { chains, relayer, rewards, curator, receiver, ...none }
  controls = await startControls(controlled, { origins: [PAGE] })
})
afterAll(async () => {
  await controls.stop()
  await bridge.stop()
})
// The relayer fills all open transfers, so that none of them affects the next test.
afterEach(() => bridge.relayer.fillAll())

type Report = {
  readonly transfers: readonly {
    readonly depositId: string
    readonly state: string
    readonly fillTransaction: Hash | null
    readonly refundTransaction: Hash | null
  }[]
}

const post = (command: string, body: unknown) =>
  fetch(`${controls.url}/${command}`, { method: 'POST', body: JSON.stringify(body) })
const tell = async (command: string, body: unknown = {}): Promise<Report> => {
  const response = await post(command, body)
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text)
}
const refused = async (command: string, body: unknown = {}) => (await post(command, body)).status
const stateOf = async ({ originChainId, depositId }: { originChainId: number; depositId: bigint }) =>
  (await bridge.relayer.listDeposits({ originChainId, depositId })).map(({ state }) => state)[0]
const naming = ({ depositId }: { depositId: bigint }) => ({ depositId: depositId.toString(), originChainId: 8453 })

describe('the controls', () => {
  const statusFor = async (headers: Record<string, string>) => {
    const pendingRequest = request(`${controls.url}/chains/resume`, { method: 'POST', headers }).end('{}')
    const [answer] = (await once(pendingRequest, 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode
  }

  test('obey a terminal and the pages of allowed origins', async () => {
    expect(await statusFor({})).toBe(200)
    expect(await statusFor({ origin: PAGE })).toBe(200)
    expect(await statusFor({ host: 'localhost:4000' })).toBe(200)
  })

  test.for(['https://evil.example', 'null', `${PAGE}.evil.example`])('do nothing for pages of %s', async (origin) => {
    expect(await statusFor({ origin })).toBe(403)
  })
})

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

  test('fills each of several deposits of one transaction, old deposits and unsafe ones', async () => {
    const { origin, relayer } = bridge
    await bridge.deposit()
    const args = await bridge.argsOf({ inputAmount: 1n, outputAmount: 1n })
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'depositV3', args })
    await origin.mint(ALICE, 2n)
    await origin.act(ALICE, origin.usdc, encodeApproval(origin.pool, 2n))
    const multicall = encodeFunctionData({ abi: spokePoolAbi, functionName: 'multicall', args: [[data, data]] })
    const [transactionHash = '0x'] = await origin.act(ALICE, origin.pool, multicall)
    await installPool(origin.chain, { contract: 'LegacySpokePool' })
    const old = await bridge.deposit()
    await installPool(origin.chain)
    expect(await relayer.fillAll()).toHaveLength(4)
    expect(await relayer.listDeposits({ transactionHash })).toMatchObject([{ state: 'filled' }, { state: 'filled' }])
    expect(await stateOf(old)).toBe('filled')
  })

  test('skips a deposit that cannot be filled, reports the reason, and retries it', async () => {
    const { destination, relayer } = bridge
    const { usdc, handler } = destination
    const message = encodeHandlerMessage(
      [buildMessageCall(usdc, transferOf(BOB, destination.units('150')))],
      `0x${'00'.repeat(20)}`,
    )
    const stuck = await bridge.deposit({ recipient: handler, message })
    const next = await bridge.deposit()
    expect((await relayer.fillAll()).map(({ deposit }) => deposit)).toEqual([next])
    expect(await relayer.listDeposits({ depositId: stuck.depositId })).toMatchObject([
      { state: 'waiting', fillError: expect.stringContaining('CallReverted') },
    ])
    await expect(relayer.fill(stuck)).rejects.toThrow(`refuses to fill deposit ${stuck.depositId}: CallReverted`)
    await destination.mint(handler, destination.units('60'))
    expect((await relayer.fillAll()).map(({ deposit }) => deposit)).toEqual([stuck])
    const [mended] = await relayer.listDeposits({ depositId: stuck.depositId })
    expect(mended?.fillError).toBeUndefined()
  })

  test('notices fills of other relayers and ignores deposits to unknown chains', async () => {
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
    await expect(relayer.fill(nowhere)).rejects.toThrow('does not work on chain 10')
  })

  test('reads a reset chain again', async () => {
    const { origin, relayer } = bridge
    const [snapshot] = await callRpc(origin.chain, [{ method: 'evm_snapshot', params: [] }])
    const undone = await bridge.deposit()
    await bridge.deposit()
    await relayer.listDeposits()
    await callRpc(origin.chain, [{ method: 'evm_revert', params: [snapshot] }])
    const deposit = await bridge.deposit({ outputAmount: 7n })
    expect(deposit.depositId).toBe(undone.depositId)
    expect((await relayer.fillAll()).map((relay) => relay.deposit)).toEqual([deposit])
  })
})

describe('over HTTP', () => {
  test('it refuses invalid commands', async () => {
    expect(await refused('transfers/ignore', {})).toBe(400)
    expect(await refused('transfers/delay', { seconds: -1 })).toBe(400)
    expect(await refused('transfers/fill', { depositId: '99999999' })).toBe(409)
    expect(await refused('transfers/dance')).toBe(404)
    expect(await refused('transfers/constructor')).toBe(404)
    expect((await fetch(`${controls.url}/transfers/hold`)).status).toBe(404)
    expect((await fetch(`${controls.url}/transfers/hold`, { method: 'POST', body: '{' })).status).toBe(400)
    expect(await refused('transfers/refund', naming(await bridge.deposit()))).toBe(409)
  })

  test('it lets a deposit expire and refunds the depositor on the origin', async () => {
    const { origin, destination } = bridge
    const deposit = await bridge.deposit({ deadlineIn: 1000, recipient: BOB })
    const other = await bridge.deposit()
    await tell('transfers/ignore', naming(deposit))
    await tell('transfers/fill')
    expect(await Promise.all([deposit, other].map(stateOf))).toEqual(['ignored', 'filled'])

    await tell('transfers/expire', naming(deposit))
    expect(await stateOf(deposit)).toBe('expired')
    expect(await destination.refusal(RELAYER, 'fillRelay', bridge.fillArgs(deposit))).toBe('ExpiredFillDeadline')
    const before = await origin.balanceOf(ALICE)
    const { transfers } = await tell('transfers/refund')
    expect(await origin.balanceOf(ALICE)).toBe(before + origin.units('100'))
    const [refunded] = transfers.filter(({ depositId }) => depositId === `${deposit.depositId}`)
    expect(refunded).toMatchObject({ state: 'refunded', fillTransaction: null })
    const events = await origin.eventsOf(refunded?.refundTransaction ?? '0x')
    expect(events.at(-1)).toMatchObject({
      eventName: 'ExecutedRelayerRefundRoot',
      args: { refundAddresses: [ALICE], refundAmounts: [origin.units('100')], l2TokenAddress: origin.usdc },
    })
    for (const command of ['refund', 'expire']) {
      expect(await refused(`transfers/${command}`, { transactionHash: deposit.transactionHash })).toBe(409)
    }
  })
})

test('A relayer that runs by itself fills late, stops and resumes', async () => {
  const { origin, destination } = bridge
  const relayer = createRelayer({ chains: [origin.chain, destination.chain] })
  const errors: unknown[] = []
  const isFilled = async (deposit: BridgeDeposit) => (await destination.fillStatus(relayHashOf(deposit))) === 2n
  relayer.settings.running = false
  relayer.start({ onError: (error) => errors.push(error) })
  onTestFinished(relayer.stop)
  const deposit = await bridge.deposit()
  await sleep(600)
  expect(await isFilled(deposit)).toBe(false)
  relayer.settings.delaySeconds = 1
  relayer.settings.running = true
  await sleep(500)
  expect(await isFilled(deposit)).toBe(false)
  await expect.poll(() => isFilled(deposit)).toBe(true)
  expect(errors).toEqual([])
})
