import {
  type Address,
  encodeAbiParameters,
  type Hash,
  type Hex,
  maxUint256,
  numberToHex,
  pad,
  parseGwei,
  zeroAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, vi } from 'vitest'
import type { ProtocolName } from '../../lib/protocols/vault-on-chain.ts'
import { ACCOUNTS, type LocalAccount } from '../../sandbox/accounts.ts'
import { type BridgeDeposit, readDeposits, relayDataOf } from '../../sandbox/bridge.ts'
import { type LocalChain, MULTICALL3 } from '../../sandbox/chains.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { confirmTransactions, readNonces, transact } from '../../sandbox/transactions.ts'
import { ARBITRUM, BASE, encodeCall, HANDLER, MESSAGE_PARAMETERS, POOLS } from './oracles.ts'
import { test as base, type HttpReply, type Service, USERS } from './service.ts'
import { createTransferTroubles } from './transfer-troubles.ts'
import type { Asset, TestVault } from './vaults.ts'

/**
 * Number of status requests after which the service has surely finished its search of the test chains for fills and
 * refunds.
 */
const MAX_QUESTIONS = 12
const FINAL_AFTER_SECONDS = 600
const NAMES: Readonly<Record<number, string>> = { [BASE]: 'Base', [ARBITRUM]: 'Arbitrum One' }

/** Contract call without native coin. */
export type ContractCall = { readonly target: Address; readonly callData: Hex }

/** Builds a call of a function in the ABIs of oracles.ts. */
export function call(target: Address, ...of: Parameters<typeof encodeCall>): ContractCall {
  return { target, callData: encodeCall(...of) }
}

/** Vault function that the bridge message calls to deposit. */
export type DepositFunction = 'requestDeposit' | 'syncDeposit' | 'deposit'

/** Builds the message of the service's bridge deposits: the handler contract deposits all received tokens into a vault for a user. */
export function depositMessage(options: {
  readonly token: Address
  readonly vault: Address
  readonly user: Address
  readonly entry: DepositFunction
}): Hex {
  const { token, vault, user, entry } = options
  const approve = call(token, 'approve', [vault, 0n])
  const args = { requestDeposit: [0n, user, HANDLER], syncDeposit: [0n, user, zeroAddress], deposit: [0n, user] }[entry]
  const deposit = call(vault, entry, args)
  const withBalance = ({ target, callData }: ContractCall, offset: bigint) =>
    call(HANDLER, 'makeCallWithBalance', [target, callData, 0n, [{ token, offset }]])
  return handlerMessage([approve, withBalance(approve, 36n), withBalance(deposit, 4n)], user)
}

/**
 * Encodes a message to the bridge's handler contract. `fallbackRecipient` gets the tokens if one of the calls fails.
 */
function handlerMessage(calls: readonly ContractCall[], fallbackRecipient: Address): Hex {
  return encodeAbiParameters(MESSAGE_PARAMETERS, [
    { calls: calls.map((one) => ({ ...one, value: 0n })), fallbackRecipient },
  ])
}

/** Options of a bridge deposit. Each option has a default. */
export type BridgeDepositOptions = {
  readonly from?: number
  readonly to?: number
  readonly asset?: Asset
  readonly user?: LocalAccount
  readonly inputAmount?: bigint
  readonly outputAmount?: bigint
  /** Vault whose function `entry` the bridge message calls to deposit. Undefined makes a plain transfer to the user. */
  readonly into?: Pick<TestVault, 'address' | 'asset' | 'chain'>
  readonly entry?: DepositFunction
  readonly message?: Hex
  readonly recipient?: Address
  /** Seconds from the deposit until its fill deadline. */
  readonly seconds?: number
}

type State = {
  readonly status: 'pending' | 'bridging' | 'completed' | 'failed'
  readonly reason: string | null
  readonly terminal: boolean
}
const STATES = {
  pending: { status: 'pending', reason: null, terminal: false },
  bridging: { status: 'bridging', reason: null, terminal: false },
  completed: { status: 'completed', reason: null, terminal: true },
  source_reverted: { status: 'failed', reason: 'source_reverted', terminal: true },
  no_deposit_in_transaction: { status: 'failed', reason: 'no_deposit_in_transaction', terminal: true },
  destination_action_failed: { status: 'failed', reason: 'destination_action_failed', terminal: true },
  expired: { status: 'failed', reason: 'expired', terminal: false },
  // The search for a refund has ended. A refund was found, but it may belong to another transfer.
  undecided: { status: 'failed', reason: 'expired', terminal: true },
  // The pool keeps the refund until the depositor claims it.
  refund_owed: { status: 'failed', reason: 'expired', terminal: false },
  refunded: { status: 'failed', reason: 'refunded', terminal: true },
  undelivered: { status: 'failed', reason: 'undelivered', terminal: true },
  source_dropped: { status: 'failed', reason: 'source_dropped', terminal: true },
  refund_not_found: { status: 'failed', reason: 'refund_not_found', terminal: true },
  destination_not_followed: { status: 'bridging', reason: 'destination_not_followed', terminal: true },
} as const satisfies Record<string, State>
/** Name of an expected transfer status: a key of `STATES`. */
export type StateName = keyof typeof STATES

/** Expected fields of a status response. A field that a test omits must be null, unless every transfer has it. */
type Expected = {
  readonly hash: Hash
  readonly from: number
  readonly to?: number
  readonly inputAmount?: bigint
  readonly outputAmount?: bigint
  readonly initiated?: string
  readonly bridged?: string
  readonly fill?: Hash
  readonly protocol?: ProtocolName
  readonly action?: 'deposit' | 'none'
  /** True if no chain reorganisation can change the status any more. Undefined accepts true and false. */
  readonly final?: boolean
}

/** Asserts that a status response has this state and all documented fields. The response must not name the bridge. */
export function expectStatus(reply: HttpReply, state: StateName, expected: Expected): void {
  const { status, headers } = reply
  const { transfers, ...whole } = reply.body
  const { protocol: _, evidence: __, ...first } = whole
  if (transfers.length > 0) expect(transfers[0]).toEqual(first)
  const { depositor, recipient, vaultAddress, input, output, sharesReceived, expectedAt, deadline, ...others } = whole
  const { refund, replacedBy, events, links, ...body } = others
  const evidence = {
    depositor,
    recipient,
    vaultAddress,
    input,
    output,
    sharesReceived,
    expectedAt,
    deadline,
    refund,
    replacedBy,
    events,
    links,
  }
  const { hash, from, to, inputAmount, outputAmount, initiated = null, bridged = null, fill = null } = expected
  const chain = (id: number) => ({ id, name: NAMES[id] ?? 'unknown' })
  const { terminal, ...said } = STATES[state]
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      depositId: hash,
      ...said,
      terminal,
      final: expected.final ?? (terminal ? expect.any(Boolean) : false),
      action: expected.action ?? null,
      statusDescription: expect.stringMatching(/^[A-Z].*[.]$/),
      nextPollAfterMs: terminal ? null : expect.any(Number),
      srcChain: chain(from),
      dstChain: to === undefined ? null : chain(to),
      protocol: expected.protocol ?? null,
      inputAmount: inputAmount === undefined ? null : `${inputAmount}`,
      outputAmount: outputAmount === undefined ? null : `${outputAmount}`,
      timestamps: { initiated, bridged, completed: state === 'completed' ? bridged : null },
      transactions: { source: hash, fill },
      evidence: expect.arrayContaining([expect.objectContaining({ chainId: from, nodes: expect.any(Number) })]),
    },
  })
  expectEvidence(evidence, state, expected)
  for (const { chainId } of to === undefined ? [] : body.evidence) expect([from, to]).toContain(chainId)
  if (!terminal) expect(body.nextPollAfterMs).toBeGreaterThanOrEqual(1000)
  expect(headers.get('cache-control')).toBe('no-store')
  // Headers with random text are left out, because random text may contain any word.
  const words = [...headers].filter(([name]) => !/signature|digest|request-id/.test(name))
  expect(JSON.stringify([body, words])).not.toMatch(/across|spoke|relay|multicall|handler|\buma\b/i)
}

/**
 * Allowed kinds of the last event in a status response, by transfer state. A state that is not listed allows every
 * kind.
 */
const PROOFS: Partial<Record<StateName, readonly string[]>> = {
  bridging: ['deposited', 'slow_fill_requested', 'filled'],
  completed: ['vault_deposited', 'delivered'],
  destination_action_failed: ['action_failed'],
  expired: ['deposited', 'slow_fill_requested'],
  refund_owed: ['refund_owed'],
  refunded: ['refunded'],
  undelivered: ['undelivered'],
}

/** Asserts that the events in a status response prove the state and match the reported amounts and accounts. */
function expectEvidence(
  evidence: Pick<HttpReply, 'body'>['body'],
  state: StateName,
  { from, to, ...expected }: Expected,
): void {
  const { events, links, refund, input, output, depositor, deadline } = evidence
  if (to === undefined) {
    expect({ events, depositor, input, output, deadline, refund }).toEqual({
      ...{ events: [], depositor: null, input: null, output: null, deadline: null, refund: null },
    })
    return
  }
  expect(PROOFS[state] ?? [events.at(-1)?.kind]).toContain(events.at(-1)?.kind)
  const [deposited] = events
  expect(deposited).toMatchObject({
    kind: 'deposited',
    chainId: from,
    amount: `${expected.inputAmount}`,
    account: depositor,
  })
  expect(input.amount).toBe(`${expected.inputAmount}`)
  const filled = events.find(({ kind }: { kind: string }) => kind === 'filled')
  expect(filled?.txHash).toBe(expected.fill)
  if (filled) expect(filled).toMatchObject({ chainId: to, at: expected.bridged, amount: output.amount })
  const claim = state === 'refund_owed' ? expect.objectContaining({ chainId: from, value: '0' }) : null
  const isRefund = state === 'refunded' || state === 'refund_owed'
  expect(refund).toEqual(isRefund ? expect.objectContaining({ amount: input.amount, claim }) : null)
  expect(links.source).toContain(deposited.txHash)
}

type Asking = { readonly key?: string; readonly as?: Service }
type Shown = Asking & {
  readonly fill?: Hash
  readonly outputAmount?: bigint
  readonly protocol?: ProtocolName
  /** Expected action at the destination: by default `deposit` if the transfer has a message, otherwise `none`. */
  readonly action?: 'deposit' | 'none'
  readonly final?: boolean
}

/** Bridge transfer that a test has sent. */
export type Transfer = {
  readonly deposit: BridgeDeposit
  readonly hash: Hash
  readonly index: number
  ask(asking?: Asking): Promise<HttpReply>
  shows(state: StateName, shown?: Shown): Promise<void>
  /** Requests the transfer's status until it is `state`, at most `MAX_QUESTIONS` times. Then asserts all fields. */
  becomes(state: StateName, shown?: Shown): Promise<void>
}

/** Simulated bridge between the service's chains, with the actions of users, relayers and third parties. */
export type Transfers = ReturnType<typeof transfersOn>

const togetherCall = (calls: readonly ContractCall[]) =>
  call(MULTICALL3, 'aggregate3', [calls.map((one) => ({ ...one, allowFailure: false }))])

/**
 * Makes the bridge's status API unavailable until the test ends. So the service must search the chains for fills and refunds.
 */
export function disableStatusApi(service: Service): void {
  const { acrossApi } = service.backends.providers
  acrossApi.rewrite = (reply, { url }) => (url.pathname.endsWith('/deposit/status') ? { status: 503, body: {} } : reply)
  onTestFinished(() => {
    acrossApi.rewrite = undefined
  })
}

function transfersOn(service: Service) {
  const { chains, relayer } = service.backends
  const chainOf = (chainId: number) => {
    const chain = chains.find((candidate) => candidate.chainId === chainId)
    if (!chain) throw new Error(`There is no chain ${chainId}`)
    return chain
  }
  const tokenOf = (chainId: number, asset: Asset): Address => {
    const token = chainOf(chainId).tokens.find(({ symbol }) => symbol === asset)
    if (!token) throw new Error(`There is no ${asset} on chain ${chainId}`)
    return token.address
  }
  const poolOf = (chainId: number) => POOLS[chainId] ?? zeroAddress
  /** Returns the time of a chain's block in seconds since 1970. */
  const clockOf = async (chainId: number, block: bigint | 'latest' = 'latest') => {
    const tag = block === 'latest' ? block : numberToHex(block)
    const [header] = await callRpc(chainOf(chainId), [{ method: 'eth_getBlockByNumber', params: [tag, false] }])
    return Number((header as { timestamp: Hex }).timestamp)
  }
  /** Mines a block with this time, in seconds since 1970. */
  const setClock = async (chainId: number, seconds: number): Promise<void> => {
    await callRpc(chainOf(chainId), [{ method: 'evm_setNextBlockTimestamp', params: [seconds] }])
    await callRpc(chainOf(chainId), [{ method: 'evm_mine', params: [] }])
  }
  const chainHead = async (chainId: number) => {
    const [number] = await callRpc(chainOf(chainId), [{ method: 'eth_blockNumber', params: [] }])
    return BigInt(number as Hex)
  }
  const receiptOf = async (chainId: number, hash: Hash) => {
    // anvil may return a hash a moment before it mines the transaction.
    const receipt = await vi.waitFor(async () => {
      const [mined] = await callRpc(chainOf(chainId), [{ method: 'eth_getTransactionReceipt', params: [hash] }])
      if (!mined) throw new Error(`No receipt of ${hash} yet.`)
      return mined
    }, 20_000)
    const { blockNumber, status } = receipt as { blockNumber: Hex; status: Hex }
    return { blockNumber: BigInt(blockNumber), status }
  }
  const timeOf = async (chainId: number, hash: Hash) => {
    const { blockNumber } = await receiptOf(chainId, hash)
    return new Date((await clockOf(chainId, blockNumber)) * 1000).toISOString()
  }
  const send = async (chainId: number, from: Address, { target, callData }: ContractCall): Promise<Hash> => {
    const [hash] = await transact(chainOf(chainId), [{ label: 'a call', from, to: target, data: callData }])
    if (!hash) throw new Error('Nothing was sent')
    return hash
  }
  const sendTogether = (chainId: number, calls: readonly ContractCall[]) =>
    send(chainId, ACCOUNTS.anchor.address, togetherCall(calls))

  const argumentsOf = async (order: BridgeDepositOptions): Promise<unknown[]> => {
    const { from = ARBITRUM, to = order.into?.chain.chainId ?? BASE, asset = order.into?.asset ?? 'USDC' } = order
    const { user = ALICE, inputAmount = 50_000_000n, outputAmount = inputAmount - 60_000n, seconds = 7200 } = order
    const isKnownChain = NAMES[to] !== undefined
    const outputToken = tokenOf(isKnownChain ? to : BASE, asset)
    const message =
      order.message ??
      (order.into
        ? depositMessage({
            token: outputToken,
            vault: order.into.address,
            user: user.address,
            entry: order.entry ?? 'requestDeposit',
          })
        : '0x')
    const recipient = order.recipient ?? (message === '0x' ? user.address : HANDLER)
    const [now, then] = await Promise.all([clockOf(from), clockOf(isKnownChain ? to : from)])
    return [
      ...[user.address, recipient, tokenOf(from, asset), outputToken].map((address) => pad(address)),
      ...[inputAmount, outputAmount, BigInt(to), pad('0x00')],
      ...[now, then + seconds, 0, message],
    ]
  }
  const depositCall = async (order: BridgeDepositOptions = {}): Promise<ContractCall> =>
    call(poolOf(order.from ?? ARBITRUM), 'deposit', await argumentsOf(order))

  const transferOf = (deposit: BridgeDeposit, index = 0): Transfer => {
    const { originChainId: from, destinationChainId: to, transactionHash: hash, inputAmount } = deposit
    const ask = (asking: Asking = {}) => askFor(hash, { from, index, ...asking })
    const transfer: Transfer = {
      deposit,
      hash,
      index,
      ask,
      async shows(state, shown = {}) {
        const { fill, outputAmount = deposit.outputAmount, protocol, action, final, ...asking } = shown
        expectStatus(await ask(asking), state, {
          action: action ?? (deposit.message === '0x' ? 'none' : 'deposit'),
          ...(final !== undefined && { final }),
          ...{ hash, from, to, inputAmount, initiated: await timeOf(from, hash) },
          ...(fill && { fill, outputAmount, bridged: await timeOf(to, fill) }),
          ...(protocol && { protocol }),
        })
      },
      async becomes(state, shown) {
        const { status, reason } = STATES[state]
        for (let question = 0; question < MAX_QUESTIONS; question += 1) {
          const { body } = await ask(shown)
          const isFinal = shown?.final === undefined || body.final === shown.final
          const isOwed = state !== 'refund_owed' || body.refund !== null
          if (body.status === status && body.reason === reason && isFinal && isOwed) break
        }
        await transfer.shows(state, shown)
      },
    }
    return transfer
  }
  const transfersIn = async (chainId: number, hash: Hash): Promise<Transfer[]> => {
    const { blockNumber } = await receiptOf(chainId, hash)
    const deposits = await readDeposits(chainOf(chainId), { fromBlock: blockNumber, toBlock: blockNumber })
    return deposits.filter(({ transactionHash }) => transactionHash === hash).map(transferOf)
  }
  const askFor = (
    hash: string,
    options: Asking & { readonly from: number; readonly index?: number },
  ): Promise<HttpReply> => {
    const { from, index = 0, key = service.apiKey, as = service } = options
    const query = `srcChainId=${from}${index > 0 ? `&index=${index}` : ''}`
    return as.call('GET', `/defi-vaults/v1/defi/cross-chain/${hash}/status?${query}`, { key })
  }

  return {
    service,
    relayer,
    chainOf,
    tokenOf,
    poolOf,
    clockOf,
    chainHead,
    receiptOf,
    timeOf,
    send,
    sendTogether,
    togetherCall,
    transferOf,
    transfersIn,
    depositCall,
    argumentsOf,
    askFor,
    ...createTransferTroubles({ chains, relayer }),

    /** Sends one bridge deposit in a transaction of its own. Returns its transfer. */
    async open(order: BridgeDepositOptions = {}): Promise<Transfer> {
      const { from = ARBITRUM, user = ALICE } = order
      const hash = await send(from, user.address, await depositCall(order))
      const [transfer] = await transfersIn(from, hash)
      if (!transfer) throw new Error('The pool took no deposit')
      return transfer
    },
    async openTogether(orders: readonly BridgeDepositOptions[]): Promise<Transfer[]> {
      const [{ from = ARBITRUM, user = ALICE } = {}] = orders
      const calls = await Promise.all(orders.map(depositCall))
      const together = call(poolOf(from), 'multicall', [calls.map(({ callData }) => callData)])
      return transfersIn(from, await send(from, user.address, together))
    },
    /** Signs a user's transaction without sending it. Uses the user's present nonce and a fixed gas price. */
    async sign(chainId: number, user: LocalAccount, { target: to, callData: data }: ContractCall): Promise<Hex> {
      const [nonce = 0] = await readNonces(chainOf(chainId), [user.address])
      const terms = { gas: 3_000_000n, gasPrice: parseGwei('100'), nonce, chainId, type: 'legacy' } as const
      return privateKeyToAccount(user.privateKey).signTransaction({ to, data, ...terms })
    },
    async sendSigned(chainId: number, signed: Hex): Promise<Hash> {
      const [hash] = await callRpc(chainOf(chainId), [{ method: 'eth_sendRawTransaction', params: [signed] }])
      await confirmTransactions(chainOf(chainId), [], [hash as Hash])
      return hash as Hash
    },
    /** Builds the calls with which anyone can fill a bridge deposit from freshly minted tokens. */
    fillCalls: ({ deposit }: Pick<Transfer, 'deposit'>, pool = poolOf(deposit.destinationChainId)): ContractCall[] => {
      const token: Address = `0x${deposit.outputToken.slice(26)}`
      return [
        call(token, 'mint', [MULTICALL3, deposit.outputAmount]),
        call(token, 'approve', [pool, 0n]),
        call(token, 'approve', [pool, deposit.outputAmount]),
        call(pool, 'fillRelay', [relayDataOf(deposit), BigInt(deposit.originChainId), pad(MULTICALL3)]),
      ]
    },
    /** Pays a token from the bridge's pool to several accounts in one transaction, as the bridge pays refunds. */
    async refundTogether(chainId: number, token: Address, payments: readonly (readonly [Address, bigint])[]) {
      const due = payments.map(([account, amount]) => ({ chainId, token, account, amount }))
      const [hash] = await relayer.refundTogether([], { payments: due })
      return hash as Hash
    },
    /** Builds a direct call of the bridge's handler contract with this message. Anyone may make such a call. */
    handlerCall: (message: Hex): ContractCall =>
      call(HANDLER, 'handleV3AcrossMessage', [tokenOf(BASE, 'USDC'), 0n, HANDLER, message]),
    /** Mines blocks. `seconds` is the time between two blocks. */
    mine: (chainId: number, blocks: number, seconds = 1) =>
      callRpc(chainOf(chainId), [{ method: 'anvil_mine', params: [numberToHex(blocks), numberToHex(seconds)] }]),
    setClock,
    /** Makes all present blocks final on these chains, by default on all. The chains' clocks stay equal. */
    async finalise(...only: number[]): Promise<void> {
      const ids = only.length > 0 ? only : chains.map(({ chainId }) => chainId)
      const times = await Promise.all(ids.map((chainId) => clockOf(chainId)))
      for (const chainId of ids) {
        await setClock(chainId, Math.max(...times) + FINAL_AFTER_SECONDS)
        await callRpc(chainOf(chainId), [{ method: 'anvil_mine', params: ['0x5', '0x0'] }])
      }
    },
    async passDays(days: number): Promise<void> {
      const times = await Promise.all(chains.map(({ chainId }) => clockOf(chainId)))
      for (const { chainId } of chains) await setClock(chainId, Math.max(...times) + days * 86_400)
    },
    async letExpire({ deposit }: Transfer): Promise<void> {
      for (const { chainId } of chains) {
        await setClock(chainId, Math.max(deposit.fillDeadline, await clockOf(chainId)) + 1)
      }
    },
    async remember(chainId: number): Promise<() => Promise<void>> {
      const [id] = await callRpc(chainOf(chainId), [{ method: 'evm_snapshot', params: [] }])
      return async () => {
        await callRpc(chainOf(chainId), [{ method: 'evm_revert', params: [id] }])
      }
    },
  }
}

const [ALICE, BOB] = USERS

async function approvePool(chain: LocalChain & { readonly tokens: readonly { readonly address: Address }[] }) {
  const pool = POOLS[chain.chainId] ?? zeroAddress
  const approvals = [ALICE, BOB].flatMap(({ address: from }) =>
    chain.tokens.map(({ address: to }) => {
      const { callData: data } = call(to, 'approve', [pool, maxUint256])
      return { label: 'approve', from, to, data }
    }),
  )
  await transact(chain, approvals)
}

/** Test fixtures of bridge transfers. Both users have approved the bridge's pools for all tokens. */
export const test = base
  .extend('sharedTransfers', { scope: 'file' }, async ({ sharedService }) => {
    await Promise.all(sharedService.backends.chains.map(approvePool))
    return transfersOn(sharedService)
  })
  .extend('transfers', ({ sharedTransfers, service: _ }) => sharedTransfers)
