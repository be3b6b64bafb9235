import type { Address, Hash } from 'viem'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { createFlow, type Flow, type FlowInputs, type FlowState, type Receipt } from '../../client/src/flow.ts'
import type { Call, Client } from '../../client/src/index.ts'
import { verifyingFetch } from '../../client/src/verify.ts'
import { createWitness } from '../../client/src/witness.ts'
import { createDepositJourney, createWithdrawalJourney } from '../support/cross-chain.ts'
import { type Service, test, USERS } from '../support/service.ts'
import { openLagoonVault, openYieldVault, type TestVault } from '../support/vaults.ts'

const [ALICE, BOB] = USERS

/**
 * Creates an API client for a vault. It polls every millisecond, and `onAnswer` gets each response before the client reads it.
 */
function clientOf(service: Service, { key }: TestVault, onAnswer?: (text: string) => unknown): Client {
  return {
    url: service.baseUrl,
    key,
    async fetch(...request) {
      const response = await fetch(...request)
      const text = await response.text()
      await onAnswer?.(text)
      return new Response(text.replace(/("nextPollAfterMs":)\d+/, '$11'), response)
    },
  }
}

function walletOn(service: Service) {
  const sentCalls: { call: Call; chainId: number; account: Address }[] = []
  const receipts = new Map<Hash, Receipt>()
  return {
    sentCalls,
    async send(call: Call, chainId: number, account: Address): Promise<Hash> {
      sentCalls.push({ call, chainId, account })
      const [receipt] = await service.send(chainId, ALICE, [{ ...call, value: `${call.value}` }])
      if (!receipt) throw new Error('The chain gave no receipt')
      receipts.set(receipt.transactionHash, receipt)
      return receipt.transactionHash
    },
    async wait(hash: Hash): Promise<Receipt> {
      const receipt = receipts.get(hash)
      if (!receipt) throw new Error('Nothing was sent with this hash')
      return receipt
    },
  }
}

function open<Kind extends keyof FlowInputs>(client: Client, kind: Kind, input: FlowInputs[Kind]) {
  const flow = createFlow(client, kind, input)
  const states: FlowState[] = []
  const close = flow.subscribe(() => states.push(flow.getState()))
  onTestFinished(close)
  return { ...flow, states, close }
}

async function waitUntilSettled({ getState, subscribe }: Flow): Promise<FlowState> {
  const isOver = () => getState().status !== 'busy'
  if (!isOver()) {
    await new Promise<void>((resolve) => {
      const stop = subscribe(() => {
        if (!isOver()) return
        stop()
        resolve()
      })
    })
  }
  return getState()
}

const stepsOf = ({ steps }: FlowState) => steps.map(({ kind, status }) => `${kind} ${status}`)

/** Creates an API client that gets these responses in order, and a wallet that records its calls. */
function createScriptedClient(...answers: unknown[]) {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const client: Client = {
    url: 'https://api.example',
    key: 'jk',
    async fetch() {
      const answer = answers.shift()
      return answer === undefined ? new Response('') : Response.json(answer)
    },
  }
  const sentCalls: Call[] = []
  const receipt = { status: 'success', transactionHash: '0x12' } as const satisfies Receipt
  const send = async (call: Call) => {
    sentCalls.push(call)
    return receipt.transactionHash
  }
  return { client, sentCalls, sender: { send, wait: async () => receipt } }
}

const input = { vaultAddress: '0x1', userAddress: '0x2', amount: '5' } as const
const call = (to: string, data = '0x', value = '0') => ({ to, data, value })
const prepared = {
  approval: [],
  operations: [call('0xb')],
  chainId: 8453,
  isCrossChain: false,
  isAsync: false,
  simulation: { status: 'success' },
}
const unapproved = { ...prepared, approval: [call('0xa')] }

describe('A deposit', () => {
  test('approves, then deposits, one signature at a time', async ({ service }) => {
    const vault = await openYieldVault(service)
    await vault.mint(ALICE.address, vault.units('50'))
    const wallet = walletOn(service)
    const amount = `${vault.units('50')}`
    const flow = open(clientOf(service, vault), 'deposit', {
      vaultAddress: vault.address,
      userAddress: ALICE.address,
      amount,
    })
    expect(flow.getState()).toMatchObject({ status: 'busy', current: { kind: 'deposit', status: 'todo' } })
    const first = await waitUntilSettled(flow)
    expect(stepsOf(first)).toEqual(['approve todo', 'deposit todo'])
    expect(first).toMatchObject({ status: 'ready', error: undefined, prepared: { simulation: { status: 'success' } } })

    await flow.next(wallet)
    expect(stepsOf(flow.getState())).toEqual(['approve done', 'deposit todo'])
    await flow.next(wallet)
    expect(flow.getState()).toMatchObject({ status: 'done', current: undefined })
    expect(stepsOf(flow.getState())).toEqual(['approve done', 'deposit done'])
    expect(flow.getState().steps[1]).toMatchObject({ chainId: 8453, hash: expect.stringMatching(/^0x.{64}$/) })
    const statuses = flow.states.map(({ current }) => current?.status)
    expect(statuses).toEqual(expect.arrayContaining(['confirming', 'pending']))
    expect(wallet.sentCalls.map(({ account }) => account)).toEqual([ALICE.address, ALICE.address])
    expect(await vault.read('balanceOf', ALICE.address)).toBeGreaterThan(0n)
  })

  test('is sent once by two clicks', async ({ service }) => {
    const vault = await openYieldVault(service)
    await vault.mint(ALICE.address, vault.units('5'))
    await vault.approve(ALICE.address, vault.units('5'))
    const wallet = walletOn(service)
    const input = { vaultAddress: vault.address, userAddress: ALICE.address, amount: `${vault.units('5')}` }
    const flow = open(clientOf(service, vault), 'deposit', input)
    await waitUntilSettled(flow)
    await Promise.all([flow.next(wallet), flow.next(wallet)])
    expect(wallet.sentCalls).toHaveLength(1)
    await flow.next(wallet)
    expect(wallet.sentCalls).toHaveLength(1)
    expect(flow.getState().status).toBe('done')
  })

  test('into an asynchronous vault waits for its settlement, and claims', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    await vault.mint(ALICE.address, vault.units('50'))
    const wallet = walletOn(service)
    const client = clientOf(service, vault, (text) => text.includes('"status":"pending"') && vault.settle())
    const input = { vaultAddress: vault.address, userAddress: ALICE.address, amount: `${vault.units('50')}` }
    const flow = open(client, 'deposit', input)
    expect(stepsOf(await waitUntilSettled(flow))).toEqual(['approve todo', 'deposit todo', 'settle todo', 'claim todo'])
    await flow.next(wallet)
    await flow.next(wallet)
    expect(flow.getState()).toMatchObject({ status: 'busy', current: { kind: 'settle', status: 'pending' } })
    const claimable = await waitUntilSettled(flow)
    expect(stepsOf(claimable)).toEqual(['approve done', 'deposit done', 'settle done', 'claim todo'])
    expect(claimable).toMatchObject({
      progress: { status: 'claimable' },
      prepared: { claimable: { assets: input.amount } },
    })
    expect(flow.states.map(({ progress }) => progress?.status)).toContain('pending')
    await flow.next(wallet)
    expect(flow.getState().status).toBe('done')
    expect(await vault.read('balanceOf', ALICE.address)).toBeGreaterThan(0n)
  })

  test('of an earlier visit is resumed at its settlement', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    await vault.request(ALICE.address, vault.units('7'))
    const client = clientOf(service, vault, (text) => text.includes('"status":"pending"') && vault.settle())
    const flow = open(client, 'settle', { vaultAddress: vault.address, userAddress: ALICE.address })
    expect(stepsOf(flow.getState())).toEqual(['settle pending', 'claim todo'])
    expect(stepsOf(await waitUntilSettled(flow))).toEqual(['settle done', 'claim todo'])
    await flow.next(walletOn(service))
    expect(stepsOf(flow.getState())).toEqual(['settle done', 'claim done'])

    const again = open(client, 'settle', { vaultAddress: vault.address, userAddress: ALICE.address })
    expect(await waitUntilSettled(again)).toMatchObject({ status: 'done', progress: { status: 'deposited' } })
    expect(stepsOf(again.getState())).toEqual(['settle done'])
  })

  test('from another chain is followed until the shares are there', async ({ service }) => {
    const vault = await openYieldVault(service)
    const journey = createDepositJourney(vault, service)
    await journey.mint(ALICE.address, journey.units('50'))
    const wallet = walletOn(service)
    const flow = open(clientOf(service, vault), 'deposit', {
      vaultAddress: vault.address,
      userAddress: ALICE.address,
      amount: `${journey.units('50')}`,
      srcChainId: journey.source.chainId,
      srcToken: journey.token.address,
    })
    const first = await waitUntilSettled(flow)
    expect(stepsOf(first)).toEqual(['approve todo', 'transfer todo', 'arrive todo'])
    await flow.next(wallet)
    await flow.next(wallet)
    expect(wallet.sentCalls.map(({ chainId }) => chainId)).toEqual([journey.source.chainId, journey.source.chainId])
    // The user signs exactly the transaction that the page showed. A prepared transaction stays the same until its quote
    // expires.
    expect(flow.getState().prepared).toBe(first.prepared)
    expect(flow.getState().current).toMatchObject({ kind: 'arrive', status: 'pending' })

    const transactionHash = flow.getState().steps[1]?.hash
    if (!transactionHash) throw new Error('The transfer has no hash')
    const [relay] = await service.backends.relayer.listDeposits({ transactionHash })
    if (!relay) throw new Error('The pool took no deposit')
    await service.backends.relayer.fill(relay.deposit)
    expect(await waitUntilSettled(flow)).toMatchObject({
      status: 'done',
      progress: { status: 'completed', action: 'deposit' },
    })

    const transfer = { txHash: transactionHash, srcChainId: journey.source.chainId, userAddress: ALICE.address }
    const resumed = open(clientOf(service, vault), 'arrive', transfer)
    expect(stepsOf(await waitUntilSettled(resumed))).toEqual(['arrive done'])
    const others = open(clientOf(service, vault), 'arrive', { ...transfer, userAddress: BOB.address })
    await expect.poll(() => others.getState().progress?.status).toBe('pending')
  })
})

describe('A withdrawal to another chain', () => {
  test('is two requests to the wallet and one preparation', async ({ service }) => {
    const vault = await openYieldVault(service)
    const journey = createWithdrawalJourney(vault, service)
    await vault.mint(ALICE.address, vault.units('50'))
    await vault.approve(ALICE.address, vault.units('50'))
    await vault.act(ALICE.address, 'deposit', vault.units('50'), ALICE.address)
    await journey.approve(ALICE.address, vault.units('20'))
    const urls: string[] = []
    const { fetch = globalThis.fetch, ...client } = clientOf(service, vault)
    const listening: typeof fetch = (url, init) => {
      urls.push(String(url))
      return fetch(url, init)
    }
    const flow = open({ ...client, fetch: listening }, 'withdraw', {
      vaultAddress: vault.address,
      userAddress: ALICE.address,
      amount: `${vault.units('20')}`,
      dstChainId: journey.destination.chainId,
      dstToken: journey.token.address,
    })
    expect(stepsOf(await waitUntilSettled(flow))).toEqual(['withdraw todo', 'transfer todo', 'arrive todo'])
    const wallet = walletOn(service)
    await flow.next(wallet)
    await flow.next(wallet)
    expect(stepsOf(flow.getState())).toEqual(['withdraw done', 'transfer done', 'arrive pending'])
    expect(urls.filter((url) => url.endsWith('/withdraw'))).toHaveLength(1)
    flow.close()
  })
})

describe('A claim of rewards', () => {
  const { isAsync: _, ...claim } = prepared
  const rewarded = { ...claim, rewards: [{ token: '0x7', amount: '900' }], leftOut: [] }

  test('is verified by signature and by a node, and pays what the chain owes', async ({ service }) => {
    const vault = await openYieldVault(service)
    const chain = service.backends.chains.find(({ chainId }) => chainId === 8453)
    const token = chain?.rewardToken?.address
    if (!chain || !token) throw new Error('Campaigns pay in no token here')
    const amount = 3n * 10n ** 18n
    await service.backends.rewards.grant(8453, [{ account: ALICE.address, token, vault: vault.address, amount }])
    const trust = { keys: [service.backends.signingKey], witness: createWitness({ url: chain.rpcUrl }) }
    const client = { url: service.baseUrl, key: vault.key, fetch: verifyingFetch(trust) }
    const flow = open(client, 'rewards', { userAddress: ALICE.address, chainId: 8453 })
    expect(await waitUntilSettled(flow)).toMatchObject({ prepared: { rewards: [{ token, amount: `${amount}` }] } })
    await flow.next(walletOn(service))
    expect(stepsOf(await waitUntilSettled(flow))).toEqual(['rewards done'])
    expect(await service.backends.rewards.readClaimed(8453, ALICE.address, token)).toBe(amount)

    const again = open(client, 'rewards', { userAddress: ALICE.address, chainId: 8453 })
    expect(await waitUntilSettled(again)).toMatchObject({ status: 'ready', error: { code: 'no_claimable_rewards' } })
  })

  test('ends after one signature', async () => {
    const { client, sentCalls, sender } = createScriptedClient(rewarded, rewarded)
    const flow = open(client, 'rewards', { userAddress: '0x2', chainId: 8453 })
    const ready = await waitUntilSettled(flow)
    expect(ready).toMatchObject({ status: 'ready', prepared: rewarded })
    expect(stepsOf(ready)).toEqual(['rewards todo'])
    await flow.next(sender)
    expect(stepsOf(await waitUntilSettled(flow))).toEqual(['rewards done'])
    expect(flow.getState()).toMatchObject({ status: 'done', current: undefined })
    expect(sentCalls).toMatchObject(rewarded.operations.map(({ to }) => ({ to })))
  })
})

describe('An error', () => {
  const setUp = async (service: Service) => {
    const vault = await openYieldVault(service)
    await vault.mint(ALICE.address, vault.units('5'))
    const input = { vaultAddress: vault.address, userAddress: ALICE.address, amount: `${vault.units('5')}` }
    const flow = open(clientOf(service, vault), 'deposit', input)
    await waitUntilSettled(flow)
    return { vault, flow, wallet: walletOn(service) }
  }

  test('is not reported for a rejected signature: the step can be repeated', async ({ service }) => {
    const { flow, wallet } = await setUp(service)
    for (const rejection of [
      { code: 4001 },
      Object.assign(new Error('viem'), { cause: { cause: { code: 4001 } } }),
      { code: 'ACTION_REJECTED' },
    ]) {
      await flow.next({ ...wallet, send: () => Promise.reject(rejection) })
      expect(flow.getState()).toMatchObject({ status: 'ready', error: undefined })
      expect(stepsOf(flow.getState())).toEqual(['approve todo', 'deposit todo'])
    }
    await flow.next({ ...wallet, send: () => Promise.reject(new Error('insufficient funds')) })
    expect(flow.getState()).toMatchObject({ status: 'ready', error: { code: 'wallet', message: 'insufficient funds' } })
    await flow.next(wallet)
    expect(stepsOf(flow.getState())).toEqual(['approve done', 'deposit todo'])
  })

  test('is reported for a reverted transaction, and the step is prepared again', async ({ service }) => {
    const { vault, flow, wallet } = await setUp(service)
    await flow.next(wallet)
    // This wallet's allowance disappears between the simulation and the block that includes the transaction.
    const late: typeof wallet = {
      ...wallet,
      async send(call, chainId, account) {
        await vault.approve(ALICE.address, 0n)
        return wallet.send(call, chainId, account)
      },
    }
    await flow.next(late)
    expect(stepsOf(flow.getState())).toEqual(['approve done', 'deposit failed'])
    expect(flow.getState()).toMatchObject({ status: 'ready', error: { code: 'transaction_reverted' } })
    await flow.next(wallet)
    expect(stepsOf(flow.getState())).toEqual(['approve done', 'approve todo', 'deposit todo'])
    await flow.next(wallet)
    await flow.next(wallet)
    expect(flow.getState()).toMatchObject({ status: 'done', error: undefined })
  })

  test('is reported for a reverted simulation, and nothing is sent before it succeeds', async ({ service }) => {
    const vault = await openYieldVault(service)
    const amount = (await vault.balanceOf(ALICE.address)) + 1n
    const wallet = walletOn(service)
    const input = { vaultAddress: vault.address, userAddress: ALICE.address, amount: `${amount}` }
    const flow = open(clientOf(service, vault), 'deposit', input)
    expect(await waitUntilSettled(flow)).toMatchObject({ status: 'ready', error: { code: 'simulation_reverted' } })
    await flow.next(wallet)
    expect(wallet.sentCalls).toEqual([])
    await vault.mint(ALICE.address, 1n)
    await flow.next(wallet)
    expect(flow.getState()).toMatchObject({ status: 'ready', error: undefined })
    expect(wallet.sentCalls).toEqual([])
    await flow.next(wallet)
    expect(wallet.sentCalls).toHaveLength(1)
  })

  test('has the code that the API returns', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const client = clientOf(service, vault)
    const flow = open(client, 'claim', { vaultAddress: vault.address, userAddress: ALICE.address })
    expect(await waitUntilSettled(flow)).toMatchObject({
      status: 'ready',
      error: { code: 'no_claimable_deposit', status: 400 },
    })
    const transfer = open(client, 'arrive', { txHash: '0x12', srcChainId: 8453 })
    expect(await waitUntilSettled(transfer)).toMatchObject({ status: 'ready', error: { code: 'invalid_tx_hash' } })
    await transfer.next(walletOn(service))
    expect(transfer.getState()).toMatchObject({ status: 'ready', error: { code: 'invalid_tx_hash' } })
  })

  test('is reported for a missing receipt, which is requested again without a second transaction', async ({
    service,
  }) => {
    const { flow, wallet } = await setUp(service)
    let isGone = true
    const sender = {
      ...wallet,
      wait: (hash: Hash) => (isGone ? Promise.reject(new Error('The node is gone')) : wallet.wait(hash)),
    }
    await flow.next(sender)
    expect(flow.getState()).toMatchObject({ status: 'ready', error: { code: 'wallet', message: 'The node is gone' } })
    expect(stepsOf(flow.getState())).toEqual(['approve pending', 'deposit todo'])
    isGone = false
    await flow.next(sender)
    expect(stepsOf(flow.getState())).toEqual(['approve done', 'deposit todo'])
    expect(wallet.sentCalls).toHaveLength(1)
  })

  test('is not reported for a transaction that the user cancelled in the wallet', async ({ service }) => {
    const { flow, wallet } = await setUp(service)
    const cancelled: Receipt = { status: 'cancelled', transactionHash: '0x12' }
    await flow.next({ ...wallet, wait: async () => cancelled })
    expect(flow.getState()).toMatchObject({ status: 'ready', error: undefined })
    expect(stepsOf(flow.getState())).toEqual(['approve todo', 'deposit todo'])
  })
})

describe('A quote that has expired', () => {
  const expiring = (client: Client, ends: { at: string }): Client => ({
    ...client,
    async fetch(...request) {
      const response = await (client.fetch ?? fetch)(...request)
      const text = await response.text()
      return new Response(text.replace(/("expiresAt":")[^"]+/, `$1${ends.at}`), response)
    },
  })
  const LATER = '2100-01-01T00:00:00.000Z'
  const PAST = '2000-01-01T00:00:00.000Z'

  test('is replaced and shown before the wallet signs', async ({ service }) => {
    const vault = await openYieldVault(service)
    const journey = createDepositJourney(vault, service)
    await journey.mint(ALICE.address, journey.units('5'))
    const ends = { at: PAST }
    const wallet = walletOn(service)
    const flow = open(expiring(clientOf(service, vault), ends), 'deposit', {
      vaultAddress: vault.address,
      userAddress: ALICE.address,
      amount: `${journey.units('5')}`,
      srcChainId: journey.source.chainId,
      srcToken: journey.token.address,
    })
    await waitUntilSettled(flow)
    ends.at = LATER
    await flow.next(wallet)
    expect(flow.getState()).toMatchObject({
      status: 'ready',
      error: { code: 'quote_expired' },
      prepared: { quote: { expiresAt: LATER } },
    })
    expect(wallet.sentCalls).toEqual([])
    await flow.next(wallet)
    expect(stepsOf(flow.getState())).toEqual(['approve done', 'transfer todo', 'arrive todo'])
  })

  test('between a withdrawal and its transfer ends the flow: the tokens are in the wallet', async ({ service }) => {
    const vault = await openYieldVault(service)
    const journey = createWithdrawalJourney(vault, service)
    await vault.mint(ALICE.address, vault.units('5'))
    await vault.approve(ALICE.address, vault.units('5'))
    await vault.act(ALICE.address, 'deposit', vault.units('5'), ALICE.address)
    await journey.approve(ALICE.address, vault.units('5'))
    const wallet = walletOn(service)
    const soon = { at: new Date(Date.now() + 60_000).toISOString() }
    const flow = open(expiring(clientOf(service, vault), soon), 'withdraw', {
      vaultAddress: vault.address,
      userAddress: ALICE.address,
      amount: `${vault.units('5')}`,
      dstChainId: journey.destination.chainId,
      dstToken: journey.token.address,
    })
    await waitUntilSettled(flow)
    await flow.next(wallet)
    const { now } = Date
    onTestFinished(() => {
      Date.now = now
    })
    Date.now = () => now() + 61_000
    await flow.next(wallet)
    expect(flow.getState()).toMatchObject({ status: 'failed', error: { code: 'quote_expired' } })
    expect(flow.getState().error?.message).toMatch(/expired before the transfer.*in the wallet/)
    expect(stepsOf(flow.getState())).toEqual(['withdraw done', 'transfer failed', 'arrive todo'])
    expect(wallet.sentCalls).toHaveLength(1)
  })
})

describe('A wallet that signs all calls in one batch', () => {
  test('signs a whole deposit once', async ({ service }) => {
    const vault = await openYieldVault(service)
    await vault.mint(ALICE.address, vault.units('5'))
    const input = { vaultAddress: vault.address, userAddress: ALICE.address, amount: `${vault.units('5')}` }
    const flow = open(clientOf(service, vault), 'deposit', input)
    await waitUntilSettled(flow)
    const wallet = walletOn(service)
    const batches: number[] = []
    await flow.next({
      async sendCalls(calls, chainId, account) {
        batches.push(calls.length)
        let last = ''
        for (const call of calls) last = await wallet.send(call, chainId, account)
        return `batch-${last}`
      },
      wait: (id) => wallet.wait(`0x${id.slice('batch-0x'.length)}`),
    })
    expect(batches).toEqual([2])
    const { hash } = flow.getState().steps[1] ?? {}
    expect(flow.getState().steps.map(({ batchId }) => batchId)).toEqual([`batch-${hash}`, `batch-${hash}`])
    expect(stepsOf(flow.getState())).toEqual(['approve done', 'deposit done'])
    expect(flow.getState().status).toBe('done')
  })

  test('may report success without receipts, and sends only once', async () => {
    const { client } = createScriptedClient(unapproved, unapproved)
    const flow = open(client, 'deposit', input)
    await waitUntilSettled(flow)
    const sendCalls = vi.fn(async () => 'batch')
    await flow.next({ sendCalls, wait: async () => ({ status: 'success' }) })
    expect(flow.getState()).toMatchObject({ status: 'done', error: undefined })
    expect(sendCalls).toHaveBeenCalledTimes(1)
  })

  test("is polled again for a transfer's hash, and sends only once", async () => {
    const transfer = { ...prepared, isCrossChain: true, srcChainId: 42161 }
    const { client } = createScriptedClient(transfer, transfer)
    const flow = open(client, 'deposit', input)
    await waitUntilSettled(flow)
    const sendCalls = vi.fn(async () => 'batch')
    const receipts: Receipt[] = [{ status: 'success' }, { status: 'success', transactionHash: '0x12' }]
    const sender = { sendCalls, wait: async () => receipts.shift() ?? expect.unreachable() }
    await flow.next(sender)
    expect(flow.getState()).toMatchObject({ status: 'ready', error: { code: 'wallet' } })
    await flow.next(sender)
    expect(flow.getState().current).toMatchObject({ kind: 'arrive' })
    expect(sendCalls).toHaveBeenCalledTimes(1)
  })

  test('that cancels a batch leads to an error that says that nothing has moved', async () => {
    const { client } = createScriptedClient(unapproved, unapproved)
    const flow = open(client, 'deposit', input)
    await waitUntilSettled(flow)
    await flow.next({ sendCalls: async () => 'batch', wait: async () => ({ status: 'cancelled' }) })
    expect(flow.getState()).toMatchObject({ status: 'ready', error: { code: 'wallet' } })
    expect(flow.getState().error?.message).toContain('Nothing has moved')
  })
})

describe('A batch', () => {
  test("shows the wallet's batch id in its steps from the moment it is sent", async () => {
    const { client } = createScriptedClient(unapproved, unapproved)
    const flow = open(client, 'deposit', input)
    await waitUntilSettled(flow)
    const states: unknown[] = []
    flow.subscribe(() => states.push(flow.getState().steps.map(({ status, batchId }) => [status, batchId])))
    let mine = (_: { status: 'cancelled' }) => {}
    const sending = flow.next({
      sendCalls: async () => 'batch-1',
      wait: () => new Promise((resolve) => (mine = resolve)),
    })
    await vi.waitFor(() =>
      expect(states.at(-1)).toEqual([
        ['pending', 'batch-1'],
        ['pending', 'batch-1'],
      ]),
    )
    mine({ status: 'cancelled' })
    await sending
    expect(states.at(-1)).toEqual([
      ['todo', undefined],
      ['todo', undefined],
    ])
  })
})

describe("A service whose state is some blocks older than the wallet's", () => {
  test('does not have its user approve twice', async () => {
    const { client, sentCalls, sender } = createScriptedClient(unapproved, unapproved, unapproved, prepared)
    const flow = open(client, 'deposit', input)
    await waitUntilSettled(flow)
    await flow.next(sender)
    const depositing = flow.next(sender)
    await vi.advanceTimersByTimeAsync(1000)
    await depositing
    expect(sentCalls.map(({ to }) => to)).toEqual(['0xa', '0xb'])
    expect(flow.getState().status).toBe('done')
  })

  test('does not have its user approve twice if the quote expires meanwhile', async () => {
    const ending = (text: string) => ({ expiresAt: text, inputAmount: '5', outputAmount: '5', feeTotal: '0' })
    const later = ending('2100-01-01T00:00:00.000Z')
    const { client, sentCalls, sender } = createScriptedClient(
      { ...unapproved, quote: later },
      { ...unapproved, quote: later },
      { ...prepared, quote: later },
    )
    const flow = open(client, 'deposit', input)
    await waitUntilSettled(flow)
    await flow.next(sender)
    onTestFinished(() => {
      vi.restoreAllMocks()
    })
    vi.spyOn(Date, 'now').mockReturnValueOnce(Date.parse('2200-01-01T00:00:00.000Z'))
    const depositing = flow.next(sender)
    await vi.advanceTimersByTimeAsync(1000)
    await depositing
    expect(flow.getState()).toMatchObject({ status: 'ready', error: { code: 'quote_expired' } })
    expect(stepsOf(flow.getState())).toEqual(['approve done', 'deposit todo'])
    expect(sentCalls.map(({ to }) => to)).toEqual(['0xa'])
  })

  test('is polled again if it reports no request after a deposit', async () => {
    const asynchronous = { ...prepared, isAsync: true }
    const [none, claimable] = ['no_active_deposit', 'claimable'].map((status) => ({ status, nextPollAfterMs: null }))
    const { client, sender } = createScriptedClient(asynchronous, asynchronous, none ?? {}, claimable ?? {}, prepared)
    const flow = open(client, 'deposit', input)
    await waitUntilSettled(flow)
    await flow.next(sender)
    await vi.advanceTimersByTimeAsync(1000)
    expect(stepsOf(await waitUntilSettled(flow))).toEqual(['deposit done', 'settle done', 'claim todo'])
  })
})

describe('A flow without subscribers', () => {
  test('sends no requests, and continues with the next subscriber', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    await vault.request(ALICE.address, vault.units('7'))
    let requestCount = 0
    const flow = createFlow(
      clientOf(service, vault, () => {
        requestCount += 1
      }),
      'settle',
      { vaultAddress: vault.address, userAddress: ALICE.address },
    )
    // React's StrictMode mounts a page, unmounts it and mounts it again immediately.
    for (const _ of ['mount', 'mount again']) flow.subscribe(() => {})()
    const stop = flow.subscribe(() => {})
    await expect.poll(() => flow.getState().progress?.status).toBe('pending')
    stop()
    const before = requestCount
    await vault.settle()
    expect(flow.getState().status).toBe('busy')
    expect(requestCount).toBe(before)
    onTestFinished(flow.subscribe(() => {}))
    expect(stepsOf(await waitUntilSettled(flow))).toEqual(['settle done', 'claim todo'])
  })
})

describe('Terms that became worse after they were shown', () => {
  const withdrawal = { shares: '1000', assets: '100000', fee: '1000', claimedAssets: '0' }
  const quote = { inputAmount: '1000', outputAmount: '1000', feeTotal: '10', expiresAt: '2000-01-01T00:00:00.000Z' }
  const ordered = { ...prepared, withdrawal }
  const approving = { ...ordered, approval: [call('0xa', `0x095ea7b3${'1'.repeat(64)}${'5'.repeat(64)}`)] }
  const rewarded = (...rewards: [string, string][]) => {
    const { isAsync: _, ...claim } = prepared
    return { ...claim, rewards: rewards.map(([token, amount]) => ({ token, amount })) }
  }
  const worse: [string, object, object][] = [
    ['less is paid', ordered, { withdrawal: { ...withdrawal, assets: '99898' } }],
    ['what is paid is no longer known', ordered, { withdrawal: { ...withdrawal, assets: null } }],
    [
      'less of earlier withdrawals is paid along',
      { ...ordered, withdrawal: { ...withdrawal, claimedAssets: '7' } },
      ordered,
    ],
    ['more shares leave', ordered, { withdrawal: { ...withdrawal, shares: '1003' } }],
    ['the fee is higher', ordered, { withdrawal: { ...withdrawal, fee: '1003' } }],
    [
      'a fee is new',
      { ...ordered, withdrawal: { ...withdrawal, fee: '0' } },
      { withdrawal: { ...withdrawal, fee: '99' } },
    ],
    [
      'less can be claimed',
      { ...prepared, claimable: { assets: '900', shares: '900' } },
      { claimable: { assets: '900', shares: '890' } },
    ],
    ['less comes back', { ...prepared, cancelled: { assets: '900' } }, { cancelled: { assets: '890' } }],
    ['a reward is less', rewarded(['0x1', '900']), rewarded(['0x1', '890'])],
    ['a reward is of another token', rewarded(['0x1', '900']), rewarded(['0x2', '900'])],
    ['a reward is no longer paid', rewarded(['0x1', '5'], ['0x2', '900']), rewarded(['0x2', '900'])],
    ['the chain is another one', ordered, { chainId: 1 }],
    ['the contract is another one', ordered, { operations: [call('0xc')] }],
    ['the coin that is sent along is more', ordered, { operations: [call('0xb', '0x', '1')] }],
    ['another one may spend', approving, { approval: [call('0xa', `0x095ea7b3${'2'.repeat(64)}${'5'.repeat(64)}`)] }],
    ['it can no longer be tried out', ordered, { simulation: { status: 'unavailable' } }],
    ['a settlement is awaited', ordered, { isAsync: true }],
  ]

  test.for(worse)('are shown before they are signed: %s', async ([, shown, change]) => {
    const later = { ...shown, ...change }
    const { client, sentCalls, sender } = createScriptedClient(shown, later, later)
    const flow = open(client, 'withdraw', input)
    await waitUntilSettled(flow)
    await flow.next(sender)
    expect(flow.getState()).toMatchObject({ status: 'ready', error: { code: 'terms_changed' }, prepared: later })
    expect(sentCalls).toEqual([])
    await flow.next(sender)
    expect(sentCalls).toHaveLength(1)
  })

  test('are neither better terms nor changes as each block brings them', async () => {
    const moved = { ...withdrawal, assets: '99900', fee: '1001' }
    const better = { ...withdrawal, assets: '200000', fee: '0' }
    for (const next of [moved, better]) {
      const { client, sender } = createScriptedClient(ordered, { ...prepared, withdrawal: next })
      const flow = open(client, 'withdraw', input)
      await waitUntilSettled(flow)
      await flow.next(sender)
      expect(flow.getState()).toMatchObject({ status: 'done', error: undefined })
    }
  })

  test('are shown again if the quote expired, even if nothing changed', async () => {
    const { client, sentCalls, sender } = createScriptedClient({ ...prepared, quote }, { ...prepared, quote })
    const flow = open(client, 'deposit', input)
    await waitUntilSettled(flow)
    await flow.next(sender)
    expect(flow.getState()).toMatchObject({ status: 'ready', error: { code: 'quote_expired' } })
    expect(sentCalls).toEqual([])
  })

  test('are not signed on another chain than the requested one', async () => {
    const { client, sentCalls, sender } = createScriptedClient(prepared, prepared)
    const flow = open(client, 'deposit', { ...input, chainId: 1 })
    expect(await waitUntilSettled(flow)).toMatchObject({ status: 'ready', error: { code: 'unexpected' } })
    await flow.next(sender)
    expect(sentCalls).toEqual([])
  })
})

describe('An invalid response', () => {
  const broken: [string, unknown][] = [
    ['an empty object', {}],
    ['null', null],
    ['nothing', undefined],
    ['a broken value', { ...prepared, operations: [call('0xb', '0x', '1.5')] }],
    ['nothing to send', { ...prepared, operations: [] }],
    ['no simulation', { ...prepared, simulation: null }],
  ]

  test.for(broken)('is an error, and the next step tries again: %s', async ([, answer]) => {
    const { client, sentCalls, sender } = createScriptedClient(answer, answer, prepared, prepared)
    const flow = open(client, 'deposit', input)
    expect(await waitUntilSettled(flow)).toMatchObject({ status: 'ready', error: { code: 'unexpected', status: 200 } })
    await flow.next(sender)
    expect(flow.getState()).toMatchObject({ status: 'ready', error: { code: 'unexpected' } })
    await flow.next(sender)
    expect(flow.getState()).toMatchObject({ status: 'ready', error: undefined })
    await flow.next(sender)
    expect(sentCalls).toHaveLength(1)
    expect(flow.getState().status).toBe('done')
  })

  test('is an error if it arrives just before the signature', async () => {
    for (const [, answer] of broken) {
      const { client, sentCalls, sender } = createScriptedClient(prepared, answer, prepared)
      const flow = open(client, 'deposit', input)
      await waitUntilSettled(flow)
      await flow.next(sender)
      expect(flow.getState()).toMatchObject({ status: 'ready', error: { code: 'unexpected' } })
      await flow.next(sender)
      expect(sentCalls).toHaveLength(1)
    }
  })

  test('is an error in a poll', async () => {
    for (const answer of [{}, null, undefined, { status: 1, nextPollAfterMs: null }]) {
      const { client, sender } = createScriptedClient(answer, answer, { status: 'deposited', nextPollAfterMs: null })
      const flow = open(client, 'settle', input)
      expect(await waitUntilSettled(flow)).toMatchObject({ status: 'ready', error: { code: 'unexpected' } })
      await flow.next(sender)
      expect(flow.getState()).toMatchObject({ status: 'ready', error: { code: 'unexpected' } })
      await flow.next(sender)
      expect(flow.getState()).toMatchObject({ status: 'done', error: undefined })
    }
  })

  test("shows a contract's revert reason as one line", async () => {
    const simulation = { status: 'reverted', reason: 'No.\nSimulation passed.\u202E' }
    const { client } = createScriptedClient({ ...prepared, simulation })
    const flow = open(client, 'deposit', input)
    expect(await waitUntilSettled(flow)).toMatchObject({
      error: { code: 'simulation_reverted', message: 'No.Simulation passed.' },
    })
  })

  test('is not one whose quote is null, which means no quote', async () => {
    const { client, sender } = createScriptedClient({ ...prepared, quote: null }, { ...prepared, quote: null })
    const flow = open(client, 'deposit', input)
    await waitUntilSettled(flow)
    await flow.next(sender)
    expect(flow.getState().status).toBe('done')
  })
})

describe('A wallet that throws', () => {
  const circle: { cause?: unknown } = {}
  circle.cause = circle
  const cases: [string, unknown, unknown][] = [
    ['that its user declined, in the form of EIP-1193', { code: 4001 }, undefined],
    ['that its user declined, in the form of WalletConnect', { code: 5000 }, undefined],
    ['that its user declined, in another error', { code: -32603, data: { originalError: { code: 4001 } } }, undefined],
    ['an error that is its own cause', circle, { code: 'wallet' }],
    ['nothing', undefined, { code: 'wallet' }],
    ['an object that has no text', Object.create(null), { code: 'wallet' }],
  ]

  test.for(cases)('can be called again: %s', async ([, thrown, error]) => {
    const { client, sentCalls, sender } = createScriptedClient(prepared, prepared, prepared)
    const flow = open(client, 'deposit', input)
    await waitUntilSettled(flow)
    await flow.next({ ...sender, send: () => Promise.reject(thrown) })
    const state = flow.getState()
    expect(state.status).toBe('ready')
    expect(state.error).toEqual(error === undefined ? undefined : expect.objectContaining(error))
    expect(stepsOf(state)).toEqual(['deposit todo'])
    await flow.next(sender)
    expect(sentCalls).toHaveLength(1)
  })
})
