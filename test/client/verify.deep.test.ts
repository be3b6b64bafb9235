import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import fc from 'fast-check'
import { numberToHex, toFunctionSelector } from 'viem'
import { describe, expect } from 'vitest'
import * as z from 'zod'
import { describeAnswer } from '../../client/src/command.ts'
import { type Client, listCoins, listPositions, prepareDeposit } from '../../client/src/index.ts'
import type { PinnedVault, Preparation } from '../../client/src/patterns.ts'
import { contentDigest, type Exchange } from '../../client/src/signature.ts'
import { type Trust, verifyAnswer, verifyingFetch, verifyTransactions } from '../../client/src/verify.ts'
import { endpoints } from '../../functions/contracts.ts'
import { buildRefundClaim, encodeBridgeDeposit } from '../../lib/bridge/calldata.ts'
import { findRouteEnds } from '../../lib/bridge/route.ts'
import { findBridgeTokenBySymbol } from '../../lib/bridge/tokens.ts'
import { encodeApprovals } from '../../lib/chain/erc20.ts'
import { COIN_ADDRESS, EVM_CHAINS, evmChain } from '../../lib/chain/registry.ts'
import { type EndpointContract, isSigned } from '../../lib/frame/contract.ts'
import { signatureHeaders } from '../../lib/frame/signature.ts'
import { toReply } from '../../lib/prepare/reply.ts'
import { TransactionsReply } from '../../lib/prepare/transactions-reply.ts'
import { encodeOperation } from '../../lib/protocols/calldata.ts'
import { OPERATIONS } from '../../lib/protocols/operations.ts'
import { createSigningKey, publicKeyOf, signerOf } from '../../lib/signing/keys.ts'
import { someVault } from '../support/clients.ts'
import {
  type PreparedResponse,
  type RecordedResponse,
  recordResponses,
  requestEveryOperation,
  type Transaction,
  type WalletCall,
} from '../support/prepared-answers.ts'
import { scaleSampleCount } from '../support/runs.ts'
import { test as base, type Service, USERS } from '../support/service.ts'

const [ALICE, BOB] = USERS

const test = base.extend('recorded', { scope: 'file' }, async ({ sharedService }) => {
  const { recorded, service } = recordResponses(sharedService)
  await requestEveryOperation(service)
  return recorded
})

const trustOf = (service: Service, vaults?: readonly PinnedVault[], mostSent?: bigint): Trust => ({
  keys: [service.backends.signingKey],
  ...{ vaults, mostSent },
})

const Quote = z.object({ inputAmount: z.string().optional() })

const getSentAmount = ({ answer }: RecordedResponse) => {
  const { inputAmount } = Quote.parse(answer['quote'] ?? {})
  return inputAmount === undefined ? undefined : BigInt(inputAmount)
}

const UNTRIED = { estimatedGas: 1n, simulation: { status: 'unavailable' }, evidence: [] } as const

describe('A response with transactions', () => {
  test('is recorded for every kind of operation', ({ recorded }) => {
    const kinds = recorded.map(({ preparation, answer, vault }) => {
      const functions = answer.operations.map(({ data }) => NAMES[data.slice(0, 10)])
      return [preparation, vault.protocol, ...functions].join(' ')
    })
    expect(new Set(kinds)).toEqual(new Set(KINDS))
  })

  test('is accepted, and the verdict describes each transaction', async ({ service, recorded }) => {
    for (const one of recorded) {
      const { preparation, input, answer, exchange, vault } = one
      const what = `${preparation} ${vault.protocol}`
      const verdict = await verifyAnswer(exchange, trustOf(service, [vault], getSentAmount(one)))
      expect(verdict, what).toMatchObject({ ok: true, keyId: service.backends.signingKey.kid })
      expect(await verifyAnswer(exchange, trustOf(service, undefined, getSentAmount(one))), what).toMatchObject({
        ok: true,
      })
      if (!verdict.ok) continue
      expect(verdict.steps.map(({ to }) => to.toLowerCase())).toEqual(
        [...answer.approval, ...answer.operations].map(({ to }) => to.toLowerCase()),
      )
      const from = answer['isCrossChain'] && preparation === 'deposit' ? input['srcChainId'] : vault.chainId
      for (const { chainId, does } of verdict.steps) {
        expect(chainId).toBe(from)
        expect(does).toMatch(/^[a-z]+ .*0x[0-9a-fA-F]{40}/)
      }
      const transactionsVerdict = verifyTransactions(preparation, input, answer, [vault], getSentAmount(one))
      expect(transactionsVerdict).toEqual({ ok: true, steps: verdict.steps })
    }
  })

  test('that pays on another chain is accepted only up to the requested, claimable or permitted amount', ({
    recorded,
  }) => {
    const ways = recorded.filter(
      ({ preparation, answer }) => preparation !== 'deposit' && answer['isCrossChain'] === true,
    )
    const verdicts: Record<string, unknown> = {}
    for (const one of ways) {
      const { preparation, input, answer, vault } = one
      const sent = getSentAmount(one) as bigint
      const verify = (changed: PreparedResponse, mostSent?: bigint) =>
        verifyTransactions(preparation, input, changed, [vault], mostSent)
      const unbounded = verify(answer)
      verdicts[`${vault.protocol} ${NAMES[answer.operations[0]?.data.slice(0, 10) ?? '']}`] =
        unbounded.ok || unbounded.reason
      expect(verify(answer, sent)).toMatchObject({ ok: true })
      expect(verify(answer, sent - 1n)).toMatchObject({ reason: 'wrong_transactions' })
      expect(verify(withDoubledTransfer(one)).ok).toBe(false)
      expect(verify(withDoubledTransfer(one), sent)).toMatchObject({ reason: 'wrong_transactions' })
    }
    expect(verdicts).toEqual({
      'erc4626 withdraw': true,
      'erc4626 redeem': 'unbounded',
      'lagoon redeem': 'unbounded',
    })

    const [claim] = ways.filter(({ preparation }) => preparation === 'claim') as [RecordedResponse]
    const byAssets = (assets: bigint, { answer } = claim) => {
      const [redeem, transfer] = answer.operations as [Transaction, Transaction]
      const data = `0xb460af94${word(assets)}${redeem.data.slice(74)}`
      const claimable = { ...z.looseObject({}).parse(answer['claimable']), assets: `${assets}` }
      return withRebuiltCalls({ ...answer, claimable, operations: [{ ...redeem, data }, transfer] })
    }
    const verifyClaim = (answer: PreparedResponse) => verifyTransactions('claim', claim.input, answer, [claim.vault])
    expect(verifyClaim(byAssets(getSentAmount(claim) as bigint))).toMatchObject({ ok: true })
    expect(verifyClaim(byAssets((getSentAmount(claim) as bigint) - 1n))).toMatchObject({ reason: 'wrong_transactions' })
  })

  test('with an instant redemption is refused if its minimum allows the vault to pay less', ({ recorded }) => {
    const [one] = recorded.filter(
      ({ input, answer }) => input['shares'] && NAMES[answer.operations[0]?.data.slice(0, 10) ?? ''] === 'syncRedeem',
    ) as [RecordedResponse]
    const [redeem] = one.answer.operations as [Transaction]
    const least = (minimum: bigint) => {
      const data = redeem.data.slice(0, 138) + word(minimum)
      return withRebuiltCalls({ ...one.answer, operations: [{ ...redeem, data }] })
    }
    const { assets } = z.object({ assets: z.string() }).parse(one.answer['withdrawal'])
    const verify = (minimum: bigint) => verifyTransactions('withdraw', one.input, least(minimum), [one.vault]).ok
    expect([1n, (BigInt(assets) * 98n) / 100n, BigInt(assets)].map(verify)).toEqual([false, false, true])
  })

  test("is refused for another account, vault, amount, kind or chain than the request's", ({ recorded }) => {
    const other = BOB.address
    for (const { preparation, input, answer, vault } of recorded) {
      const changes: Record<string, unknown>[] = [{ userAddress: other }, { vaultAddress: other }, { chainId: 1 }]
      if (preparation === 'deposit') changes.push({ amount: `${BigInt(String(input['amount'])) + 1n}` })
      if (input['shares'] !== undefined) changes.push({ shares: '1' })
      if (input['amount'] !== undefined && answer.operations[0]?.data.startsWith('0xb460af94'))
        changes.push({ amount: '1' })
      if (preparation === 'cancel' || preparation === 'claim') {
        changes.push({ kind: input['kind'] === 'withdrawal' ? 'deposit' : 'withdrawal' })
      }
      if (input['dstChainId'] !== undefined) changes.push({ dstChainId: 10 }, { dstToken: other })
      if (input['srcChainId'] !== undefined) changes.push({ srcChainId: 10 }, { srcToken: other })
      for (const change of changes) {
        // Some contract calls name no account, because they act for the transaction's sender.
        const isAnybodys =
          'userAddress' in change && answer.operations.every(({ data }) => SENDER_SELECTORS.includes(data.slice(0, 10)))
        if (isAnybodys) continue
        const verdict = verifyTransactions(preparation, { ...input, ...change }, withOtherRequest(answer, change))
        expect(verdict.ok, `${preparation} ${vault.protocol} ${JSON.stringify(change)}`).toBe(false)
      }
    }
  })

  test('is refused if the pinned vault has another address, chain, protocol or asset', ({ recorded }) => {
    for (const { preparation, input, answer, vault } of recorded) {
      const refused = (change: Partial<PinnedVault>) =>
        verifyTransactions(preparation, input, answer, [{ ...vault, ...change }])
      expect(refused({ address: BOB.address })).toMatchObject({ reason: 'unknown_vault' })
      expect(refused({ chainId: 1 })).toMatchObject({ reason: 'unknown_vault' })
      expect(refused({ protocol: vault.protocol === 'lagoon' ? 'erc7540' : 'lagoon' }).ok).toBe(false)
      if (preparation === 'deposit' || answer['isCrossChain']) expect(refused({ asset: BOB.address }).ok).toBe(false)
    }
  })
})

/** Function names by selector. The selectors are computed from the signatures, independent of the verifier. */
const NAMES = Object.fromEntries(
  [
    ...['deposit(uint256,address)', 'withdraw(uint256,address,address)', 'redeem(uint256,address,address)'],
    ...['requestDeposit(uint256,address,address)', 'requestRedeem(uint256,address,address)'],
    ...['mint(uint256,address,address)', 'syncDeposit(uint256,address,address)', 'syncRedeem(uint256,address,uint256)'],
    ...['claimSharesAndRequestRedeem(uint256)', 'cancelRequestDeposit()', 'cancelRequestRedeem(address)'],
    ...['cancelDepositRequest(uint256,address)', 'claimCancelDepositRequest(uint256,address,address)'],
    'depositV3(address,address,address,address,uint256,uint256,uint256,address,uint32,uint32,uint32,bytes)',
    'deposit(uint256,address,address)',
  ].map((signature) => [
    toFunctionSelector(signature),
    signature === 'deposit(uint256,address,address)' ? 'claimDeposit' : signature.split('(')[0],
  ]),
)
const SENDER_SELECTORS: readonly string[] = ['cancelRequestDeposit()', 'claimSharesAndRequestRedeem(uint256)'].map(
  (name) => toFunctionSelector(name),
)

const KINDS = [
  'deposit erc4626 deposit',
  'deposit erc4626 depositV3',
  'withdraw erc4626 withdraw',
  'withdraw erc4626 redeem',
  'withdraw erc4626 withdraw depositV3',
  'withdraw erc4626 redeem depositV3',
  'deposit lagoon requestDeposit',
  'deposit lagoon syncDeposit',
  'deposit lagoon depositV3',
  'cancel lagoon cancelRequestDeposit',
  'cancel lagoon cancelRequestRedeem',
  'claim lagoon claimDeposit',
  'claim lagoon redeem',
  'claim lagoon redeem depositV3',
  'withdraw lagoon claimSharesAndRequestRedeem',
  'withdraw lagoon requestRedeem',
  'withdraw lagoon syncRedeem',
  'deposit erc7540 requestDeposit',
  'deposit erc7540 depositV3',
  'claim erc7540 claimDeposit',
  'withdraw erc7540 mint requestRedeem',
  'withdraw erc7540 requestRedeem',
  'cancel erc7540 cancelDepositRequest',
]

/**
 * Returns true if the request does not determine the calldata byte at this position. Examples are the times of a bridge deposit
 * and the id of a cancelled request.
 */
function isFree({ data }: Transaction, position: number, isLast: boolean): boolean {
  const word = Math.floor((position - 10) / 64)
  const name = NAMES[data.slice(0, 10)]
  if (name === 'depositV3') return word >= 7 && word <= 10
  if (name === 'syncRedeem') return word === 2
  return word === 0 && (name?.includes('Cancel') || name?.startsWith('cancel') || !isLast)
}

function withOtherRequest(
  answer: PreparedResponse,
  { userAddress, srcChainId }: Readonly<Record<string, unknown>>,
): PreparedResponse {
  const on = (transaction: Transaction) => (srcChainId ? { ...transaction, chainId: Number(srcChainId) } : transaction)
  const { from, chainId } = answer.calls
  return {
    ...answer,
    approval: answer.approval.map(on),
    operations: answer.operations.map(on),
    calls: {
      ...answer.calls,
      from: userAddress ?? from,
      chainId: srcChainId ? numberToHex(Number(srcChainId)) : chainId,
    },
  }
}

const word = (value: bigint) => value.toString(16).padStart(64, '0')

function withDoubledTransfer({ answer }: RecordedResponse): PreparedResponse {
  const transfer = answer.operations.at(-1) as Transaction
  const twice = (text: string, index: number) => {
    const start = 10 + 64 * index
    return text.slice(0, start) + word(2n * BigInt(`0x${text.slice(start, start + 64)}`)) + text.slice(start + 64)
  }
  const { inputAmount, outputAmount } = z
    .object({ inputAmount: z.string(), outputAmount: z.string() })
    .parse(answer['quote'])
  return withRebuiltCalls({
    ...answer,
    approval: answer.approval.map((one) => ({ ...one, data: twice(one.data, 1) })),
    operations: answer.operations.with(-1, { ...transfer, data: twice(twice(transfer.data, 4), 5) }),
    quote: { inputAmount: `${2n * BigInt(inputAmount)}`, outputAmount: `${2n * BigInt(outputAmount)}` },
  })
}

/** Rebuilds `calls` from the response's transactions, as an attacker would do to hide a changed transaction. */
function withRebuiltCalls(answer: PreparedResponse): PreparedResponse {
  const transactions = [...answer.approval, ...answer.operations]
  return {
    ...answer,
    calls: {
      ...answer.calls,
      atomicRequired: transactions.length > 1,
      calls: transactions.map(({ to, data, value }) => ({ to, data, value: numberToHex(BigInt(value)) })),
    },
  }
}

/**
 * Random numbers from which `tamper` derives a change of a response. `what` and `list` select the kind of change. `at`
 * selects the changed position. `by` is the size of the change.
 */
type Tampering = { readonly what: number; readonly list: number; readonly at: number; readonly by: number }
const tampering = fc.record<Tampering>({
  what: fc.nat(999),
  list: fc.nat(99),
  at: fc.nat(1_000_000),
  by: fc.integer({ min: 1, max: 15 }),
})

/** Changes one part of a response, as an attacker would do. Returns undefined if the response lacks this part. */
function tamper({ answer }: RecordedResponse, tampering: Tampering): PreparedResponse | undefined {
  if (tampering.what % 4 === 0) return tamperForms(answer, tampering)
  const tampered = tamperTransactions(answer, tampering)
  // `calls` gets the same change, because the verifier rejects a response whose `calls` differ from its transactions.
  return tampered && withRebuiltCalls(tampered)
}

/**
 * Changes the field `calls` of a response, or the chain of its operations. So calls and operations contradict each
 * other.
 */
function tamperForms(answer: PreparedResponse, { list, at, by }: Tampering): PreparedResponse | undefined {
  const { calls } = answer
  const index = at % calls.calls.length
  const call = calls.calls[index] as WalletCall
  const replace = (changed: object) => ({ ...answer, calls: { ...calls, ...changed } })
  const replaceCall = (changed: object) => replace({ calls: calls.calls.with(index, { ...call, ...changed }) })
  switch (list % 12) {
    case 0:
      return replaceCall({ to: flip(call.to, 2 + (at % 40), by) })
    case 1:
      return replaceCall({ data: flip(call.data, 2 + (at % (call.data.length - 2)), by) })
    case 2:
      return replaceCall({ value: numberToHex(by) })
    case 3:
      return replaceCall({ gas: numberToHex(by) })
    case 4:
      return replace({ calls: calls.calls.toSpliced(index, at % 2, call, call) })
    case 5:
      return replace({ calls: calls.calls.toSpliced(index, 1) })
    case 6:
      return calls.calls.length > 1 ? replace({ calls: calls.calls.toReversed() }) : undefined
    case 7:
      return replace({ chainId: [numberToHex(by), by, String(calls['chainId']).replace('0x', '0x0')][at % 3] })
    case 8:
      return replace({ from: flip(String(calls['from']), 2 + (at % 40), by) })
    case 9:
      return replace(
        [{ version: '1.0' }, { atomicRequired: !calls['atomicRequired'] }, { capabilities: {} }][at % 3] ?? {},
      )
    case 10:
      return { ...answer, operations: answer.operations.map((one) => ({ ...one, chainId: one.chainId + by })) }
    default: {
      const { calls: _, ...others } = answer
      // The cast is needed because `calls` was removed.
      return others as PreparedResponse
    }
  }
}

function flip(text: string, position: number, by: number): string {
  return text.slice(0, position) + (parseInt(text[position] ?? '0', 16) ^ by).toString(16) + text.slice(position + 1)
}

function tamperTransactions(answer: PreparedResponse, { what, list, at, by }: Tampering): PreparedResponse | undefined {
  const lists = (['operations', 'operations', 'approval'] as const).filter((name) => answer[name].length > 0)
  const name = lists[list % lists.length] ?? 'operations'
  const transactions = answer[name]
  const index = at % transactions.length
  const transaction = transactions[index] as Transaction
  const replace = (changed: Partial<Transaction>) => ({
    ...answer,
    [name]: transactions.map((other, i) => (i === index ? { ...other, ...changed } : other)),
  })
  const { data, to } = transaction
  switch (what % 10) {
    case 0:
      return replace({ to: flip(to, 2 + (at % 40), by) })
    case 1:
      return replace({ value: `${by}` })
    case 2: {
      const cut = data.length - 2 * by
      return replace({ data: at % 2 === 0 ? data.slice(0, cut) : `${data}${data.slice(2, 2 + 2 * by)}` })
    }
    case 3:
      return { ...answer, [name]: [...transactions, transaction] }
    case 4:
      // The change removes the last operation. It never removes an approval or a claim. Both are optional, so only the
      // signature reveals that one is missing.
      return name === 'operations' ? { ...answer, operations: transactions.slice(0, -1) } : undefined
    case 5: {
      if (transactions.length < 2) return { ...answer, approval: [transaction, transaction, transaction] }
      return { ...answer, [name]: transactions.toReversed() }
    }
    case 6: {
      const fields = ['chainId', 'isCrossChain', 'isAsync', 'protocol'] as const
      const field = fields[at % 4] ?? 'chainId'
      const value = answer[field]
      return { ...answer, [field]: typeof value === 'boolean' ? !value : typeof value === 'number' ? value + by : by }
    }
    default: {
      const position = 2 + (at % (data.length - 2))
      const isLast = index === transactions.length - 1
      if (name === 'operations' && isFree(transaction, position, isLast)) return undefined
      return replace({ data: flip(data, position, by) })
    }
  }
}

describe('A tampered response', () => {
  const kinds = (['deposit', 'withdraw', 'claim', 'cancel'] as const).flatMap((preparation) =>
    [false, true].map((isCrossChain) => ({ preparation, isCrossChain })),
  )
  test.for(kinds.filter(({ preparation, isCrossChain }) => !(preparation === 'cancel' && isCrossChain)))(
    'is refused by its transactions, 10,000 times: $preparation, to or from another chain: $isCrossChain',
    ({ preparation, isCrossChain }, { recorded }) => {
      const ofKind = recorded.filter(
        (one) => one.preparation === preparation && one.answer['isCrossChain'] === isCrossChain,
      )
      expect(ofKind.length).toBeGreaterThan(0)
      fc.assert(
        fc.property(fc.nat(), tampering, (which, how) => {
          const one = ofKind[which % ofKind.length] as RecordedResponse
          const tampered = tamper(one, how)
          fc.pre(tampered !== undefined)
          return !verifyTransactions(preparation, one.input, tampered, [one.vault], getSentAmount(one)).ok
        }),
        { numRuns: scaleSampleCount(10_000) },
      )
    },
  )

  test('is refused by its signature, 10,000 times, for any changed byte of the body or a signed header', async ({
    service,
    recorded,
  }) => {
    const trust = trustOf(service)
    const names = ['content-digest', 'content-type', 'signature', 'signature-input'] as const
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.nat(5),
        fc.nat(),
        fc.integer({ min: 1, max: 127 }),
        async (which, where, at, by) => {
          const { exchange } = recorded[which % recorded.length] as RecordedResponse
          const { answer } = exchange
          const name = names[where]
          const text = name ? (answer.headers as Record<string, string>)[name] : answer.body
          const bytes = Buffer.from(String(text))
          const position = at % bytes.length
          bytes[position] = (bytes[position] ?? 0) ^ by
          // The test skips changes that make a header's character invisible. HTTP forbids control characters, and
          // parsers ignore white space around a header's value.
          fc.pre(name === undefined || /^[!-~]$/.test(String.fromCharCode(bytes[position] ?? 0)))
          const changed = name ? { headers: { ...answer.headers, [name]: bytes.toString('latin1') } } : { body: bytes }
          const verdict = await verifyAnswer({ ...exchange, answer: { ...answer, ...changed } }, trust)
          expect(verdict.ok).toBe(false)
        },
      ),
      { numRuns: scaleSampleCount(10_000) },
    )
  })

  test('is refused without an exception, whatever it contains', async ({ service, recorded }) => {
    const [{ exchange, input }] = recorded as [RecordedResponse]
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('deposit', 'withdraw', 'claim', 'cancel'), (value, preparation) => {
        expect(verifyTransactions(preparation as Preparation, input, value).ok).toBe(false)
        expect(verifyTransactions(preparation as Preparation, value, value).ok).toBe(false)
      }),
    )
    const odd = { request: { method: 'POST', url: 'nowhere' }, answer: { status: 0, headers: {}, body: '' } }
    for (const wrong of [undefined, null, 5, {}, odd, { ...exchange, request: null }]) {
      expect(await verifyAnswer(wrong as Exchange, trustOf(service))).toMatchObject({ ok: false })
    }
  })
})

describe('A signature', () => {
  const refusalOf = async (exchange: Exchange, trust: Trust, now?: Date | null) => {
    const verdict = await verifyAnswer(exchange, trust, now)
    return verdict.ok ? undefined : verdict.reason
  }

  test('is refused for another key, response, request or body, and out of its time', async ({ service, recorded }) => {
    const trust = trustOf(service)
    const [first, second] = recorded.map(({ exchange }) => exchange) as [Exchange, Exchange]
    const { request, answer } = first
    const other = publicKeyOf(createSigningKey(new Date()))
    expect(await refusalOf(first, { keys: [other] })).toBe('unknown_key')
    expect(await refusalOf(first, { keys: [{ ...other, kid: service.backends.signingKey.kid }] })).toBe(
      'wrong_signature',
    )
    expect(await refusalOf(first, { keys: [] })).toBe('unknown_key')
    expect(await refusalOf({ request, answer: { ...answer, headers: {} } }, trust)).toBe('unsigned')
    expect(await refusalOf({ request, answer: { ...answer, status: 201 } }, trust)).toBe('wrong_signature')
    expect(await refusalOf({ request, answer: second.answer }, trust)).toBe('wrong_signature')
    expect(await refusalOf({ request, answer: { ...answer, body: second.answer.body } }, trust)).toBe('body_changed')
    for (const change of [{ method: 'GET' }, { url: `${request.url}?` }, { body: `${request.body} ` }] as const) {
      const isSameQuery = 'url' in change
      expect(await refusalOf({ request: { ...request, ...change }, answer }, trust)).toBe(
        isSameQuery ? undefined : 'wrong_signature',
      )
    }
    const elsewhere = { ...request, url: `${new URL(request.url).origin}/health?a=b` }
    expect(await refusalOf({ request: elsewhere, answer }, trust)).toBe('wrong_signature')

    const verdict = await verifyAnswer(first, trust)
    if (!verdict.ok) throw new Error(verdict.message)
    const { signedAt, expiresAt } = verdict
    expect(expiresAt.getTime() - signedAt.getTime()).toBe(300_000)
    const at = (moment: Date, seconds: number) => new Date(moment.getTime() + seconds * 1000)
    expect(await refusalOf(first, trust, at(signedAt, -120))).toBe(undefined)
    expect(await refusalOf(first, trust, at(signedAt, -121))).toBe('not_in_time')
    expect(await refusalOf(first, trust, at(expiresAt, 120))).toBe(undefined)
    expect(await refusalOf(first, trust, at(expiresAt, 121))).toBe('not_in_time')
    expect(await refusalOf(first, trust, null)).toBe(undefined)
  })

  test("that does not cover the request's body is refused", async ({ service }) => {
    const url = `${service.baseUrl}/auth/login/init`
    const headers = { 'x-join-key': service.apiKey, 'content-type': 'application/json' }
    const reply = await fetch(url, { method: 'POST', headers, body: '{}' })
    const answer = { status: reply.status, headers: reply.headers, body: await reply.text() }
    const exchange = { request: { method: 'POST', url, body: '{}' }, answer }
    expect(await refusalOf(exchange, trustOf(service))).toBe('request_not_covered')
  })
})

describe('A client that verifies', () => {
  test('gets signed data and data that needs no signature, and an error for changed data', async ({
    service,
    recorded,
  }) => {
    const [{ input }] = recorded.filter(({ preparation }) => preparation === 'cancel') as [RecordedResponse]
    const userAddress = ALICE.address
    const { poolAddress } = (await service.call('GET', '/defi-vaults/v1/vaults')).body.data[0]
    const deposit = { vaultAddress: poolAddress, userAddress, amount: '1000' } as const
    let change = (text: string) => text
    const onTheWay = async (...args: Parameters<typeof fetch>) => {
      const reply = await fetch(...args)
      return new Response(change(await reply.text()), reply)
    }
    const client: Client = {
      url: service.baseUrl,
      key: service.apiKey,
      fetch: verifyingFetch(trustOf(service), onTheWay),
    }
    expect(await listPositions(client, { userAddress })).toMatchObject({ ok: true })
    expect(await listCoins(client)).toMatchObject({ ok: true })
    expect(await prepareDeposit(client, deposit)).toMatchObject({ ok: true })
    expect(await prepareDeposit(client, { ...deposit, amount: '0' })).toMatchObject({
      error: { code: 'missing_or_invalid_amount' },
    })

    change = (text) => text.replace(/"data":"0x(........)/, '"data":"0x$1')
    expect(await prepareDeposit(client, deposit)).toMatchObject({ ok: true })
    change = (text) => text.replace('"success"', '"reverted"')
    expect(await prepareDeposit(client, deposit)).toMatchObject({
      ok: false,
      error: {
        ...{ code: 'unverified', message: 'The body is not the one that was signed.' },
        requestId: expect.stringMatching(/^[\w-]{8,}$/),
      },
    })
    change = () => ''
    expect(await prepareDeposit(client, deposit)).toMatchObject({ error: { code: 'unverified' } })
    expect(await listPositions(client, { userAddress })).toMatchObject({ error: { code: 'unverified' } })
    change = () => '{"data":[{"calls":[]}]}'
    expect(await listCoins(client)).toMatchObject({ error: { code: 'unverified', reason: 'wrong_transactions' } })
    expect(input['userAddress']).toBe(userAddress)
  })
})

describe('The command', () => {
  test('describes the transactions of a response that curl -i printed', async ({ service, recorded }) => {
    const { signingKey } = service.backends
    const now = new Date()
    const anHourLater = new Date(now.getTime() + 3_600_000)
    for (const one of recorded) {
      const { exchange, vault } = one
      const { request, answer } = exchange
      const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`)
      const printed = `${['HTTP/1.1 100 Continue', '', 'HTTP/1.1 200 OK', ...headers, '', answer.body].join('\r\n')}`
      const { url, body: data } = request
      const mostSent = getSentAmount(one)?.toString()
      const input = { keys: JSON.stringify({ keys: [signingKey] }), mostSent, answer: printed, url, data }
      const pinned = { ...input, vaults: JSON.stringify([vault]) }
      const { code, lines } = await describeAnswer(pinned, now)
      expect(code, lines.join()).toBe(0)
      expect(lines[0]).toMatch(/^Signed by the key [\w-]{43} at .*Z, good until .*Z\.$/)
      expect(lines[1]).toMatch(/^1\. On chain \d+: /)
      const over = [...lines, 'It has expired: send nothing of it, and request it again.']
      expect(await describeAnswer(pinned, anHourLater)).toEqual({ code: 3, lines: over })
      const asJson = { keys: JSON.stringify(signingKey), mostSent, answer: JSON.stringify(exchange) }
      expect(await describeAnswer(asJson, now)).toMatchObject({
        code: 0,
        lines: [...lines, expect.stringContaining('--vaults')],
      })
      const other = printed.replace('"isAsync":', '"isAsync" :')
      expect(await describeAnswer({ ...input, answer: other }, now)).toEqual({
        code: 1,
        lines: ['REFUSED (body_changed): The body is not the one that was signed.', 'Sign nothing of it.'],
      })
    }
  })

  test('exits with 2 if a file has the wrong form', async ({ recorded }) => {
    const [{ exchange }] = recorded as [RecordedResponse]
    const key = JSON.stringify(publicKeyOf(createSigningKey(new Date())))
    const answer = JSON.stringify(exchange)
    for (const [change, message] of [
      [{ keys: 'nothing' }, 'There is no JSON in the file of --keys.'],
      ...['null', '[]', '5', '{"keys":null}', '[{"kid":"a"}]'].map(
        (keys) => [{ keys }, 'nor a list of them, in the file of --keys'] as const,
      ),
      [{ vaults: '[{"chainId":8453}]' }, '--vaults'],
      [{ mostSent: '1.5' }, '--most-sent'],
    ] as const) {
      await expect(describeAnswer({ keys: key, answer, ...change }, new Date())).rejects.toThrow(message)
    }

    const folder = mkdtempSync(join(tmpdir(), 'verify-'))
    const end = (keys: string) => {
      const [keysFile, answerFile] = [join(folder, 'keys'), join(folder, 'answer')]
      writeFileSync(keysFile, keys)
      writeFileSync(answerFile, answer)
      return spawnSync(process.execPath, ['client/src/bin.ts', '--keys', keysFile, answerFile], { encoding: 'utf8' })
    }
    expect(end('nothing')).toMatchObject({ status: 2, stderr: 'There is no JSON in the file of --keys.\n' })
    // The command-line verifier accepts this keys file. It rejects the response, because another key signed it.
    expect(end(`[${key}]`).status).toBe(1)
    rmSync(folder, { recursive: true })
  })
})

describe('The service and the verifier agree', () => {
  const address = fc
    .bigInt({ min: 1n, max: 2n ** 160n - 1n })
    .map((number): `0x${string}` => `0x${number.toString(16).padStart(40, '0')}`)
  const amount = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n })
  const Transactions = TransactionsReply.pick({ approval: true, operations: true, calls: true })

  test('on every deposit operation of every protocol', () => {
    const operations = Object.entries(OPERATIONS).flatMap(([protocol, { deposits }]) =>
      deposits.map((operation) => ({ protocol: protocol as PinnedVault['protocol'], operation })),
    )
    fc.assert(
      fc.property(
        ...[fc.constantFrom(...operations), address, address, address, amount],
        fc.constantFrom('none', 'exact', 'reset'),
        ({ protocol, operation }, vault, asset, user, assets, needed) => {
          const request = { vault: { address: vault, asset }, account: user, amount: assets }
          const prepared = {
            ...{ ...UNTRIED, evidence: [] },
            approval: encodeApprovals({ token: asset, spender: vault, amount: assets }, needed as 'exact'),
            operations: [encodeOperation({ operation, request })],
          }
          const answer = {
            ...Transactions.encode(toReply({ protocol, chainId: 8453 }, user, prepared)),
            ...{ protocol, chainId: 8453, isCrossChain: false, isAsync: operation.isAsync },
          }
          const pin = { chainId: 8453, address: vault, asset, protocol }
          const input = { vaultAddress: vault, userAddress: user, amount: `${assets}` }
          expect(verifyTransactions('deposit', input, answer, [pin])).toMatchObject({ ok: true })
        },
      ),
      { numRuns: scaleSampleCount(300) },
    )
  })

  test('on every token, chain and pool of the bridge', () => {
    const chainIds = EVM_CHAINS.filter(({ bridge }) => bridge !== null).map(({ id }) => id)
    const ways = chainIds.flatMap((from) => chainIds.filter((to) => to !== from).map((to) => ({ from, to })))
    const [operation] = OPERATIONS.erc4626.deposits
    let routes = 0
    for (const { from, to } of ways) {
      for (const symbol of ['USDC', 'USDT', 'DAI', 'WETH', 'WBTC', 'coin']) {
        const isInCoin = symbol === 'coin'
        const [source, destination] = [from, to].map((chainId) =>
          findBridgeTokenBySymbol(chainId, isInCoin ? 'WETH' : symbol),
        )
        if (!source || !destination) continue
        routes += 1
        const vault = { ...someVault({ chainId: to }), asset: destination.address }
        const errors = { chain: 'internal', token: 'internal' } as const
        const ends = findRouteEnds(vault, { chainId: from, token: source.address, errors })
        const inputAmount = 10n ** BigInt(source.decimals)
        const outputAmount = (10n ** BigInt(destination.decimals) * 95n) / 100n
        const route = { source: ends.other, destination: ends.vault }
        const request = { account: ALICE.address, route, inputAmount, isInCoin, deposit: { vault, operation } }
        const times = { quoteTimestamp: 1_800_000_000, fillDeadline: 1_800_007_200 }
        const exclusivity = { exclusiveRelayer: BOB.address, exclusivityParameter: 5 }
        const sent = encodeBridgeDeposit(request, { outputAmount, ...times, ...exclusivity }, '0x00ff')
        const answer = {
          ...Transactions.encode(
            toReply(vault, ALICE.address, { ...UNTRIED, evidence: [], approval: [], operations: [sent] }, from),
          ),
          ...{ protocol: 'erc4626', chainId: to, isCrossChain: true, isAsync: false },
          quote: { inputAmount: `${inputAmount}`, outputAmount: `${outputAmount}` },
        }
        const input = {
          ...{ vaultAddress: vault.address, userAddress: ALICE.address, amount: `${inputAmount}` },
          ...{ srcChainId: from, srcToken: isInCoin ? COIN_ADDRESS : source.address },
        }
        const pin = { chainId: to, address: vault.address, asset: vault.asset, protocol: 'erc4626' } as const
        const isAccepted = (change: object) => verifyTransactions('deposit', { ...input, ...change }, answer, [pin]).ok
        const isTaken = !isInCoin || source.wrapsCoin === true
        expect(isAccepted({}), `${symbol} ${from} ${to}`).toBe(isTaken)
        if (!isTaken) continue
        // A request to pay in the native coin must not accept a transaction that pays in the token, nor the reverse.
        const otherKind = isInCoin ? source.address : COIN_ADDRESS
        expect(isAccepted({ srcToken: otherKind }), `${symbol} ${from} ${to}`).toBe(false)
        expect(isAccepted({ amount: `${inputAmount - 1n}` })).toBe(false)
      }
    }
    expect(routes).toBeGreaterThan(80)
  })

  test('on the responses that have transactions, at any base path, and others may have none', async () => {
    const signingKey = createSigningKey(new Date())
    const { keyId, key } = signerOf(signingKey)
    const contracts = Object.values<EndpointContract>(endpoints).filter((contract) => isSigned(contract))
    const body = JSON.stringify({ operations: [], approval: [] })
    for (const { path, method, response } of contracts) {
      for (const base of ['', '/prod', '/']) {
        const url = `https://api.example${base}${path.replaceAll(/{(\w+)}/g, 'some')}`
        const request = { method, url, ...(method === 'POST' && { body: '{}' }) }
        const event = {
          ...{ rawPath: new URL(url).pathname, rawQueryString: '', requestContext: { http: { method } } },
          headers: method === 'POST' ? { 'content-digest': await contentDigest('{}') } : {},
        }
        const signedResponse = { status: 200, contentType: 'application/json', body }
        const headers = {
          'content-type': 'application/json',
          ...signatureHeaders(event as never, signedResponse, { keyId, key }, Date.now()),
        }
        const verdict = await verifyAnswer(
          { request, answer: { status: 200, headers, body } },
          { keys: [publicKeyOf(signingKey)] },
        )
        const hasTransactions = response instanceof z.ZodObject && 'operations' in response.shape
        expect(verdict, url).toMatchObject(
          hasTransactions
            ? { message: 'an address is missing' }
            : { message: 'there are transactions that were not requested' },
        )
      }
    }
  })

  test('that a refund is claimed only from the pool, in its token and for the account', async () => {
    const signingKey = createSigningKey(new Date())
    const { keyId, key } = signerOf(signingKey)
    const rawPath = `/defi-vaults/v1/defi/cross-chain/0x${'1'.repeat(64)}/status`
    const event = { rawPath, requestContext: { http: { method: 'GET' } }, headers: {} }
    const verify = async (answer: object, account: string | undefined) => {
      const rawQueryString = account ? `srcChainId=8453&userAddress=${account}` : 'srcChainId=8453'
      const signedResponse = { status: 200, contentType: 'application/json', body: JSON.stringify(answer) }
      const signed = signatureHeaders({ ...event, rawQueryString } as never, signedResponse, { keyId, key }, Date.now())
      const headers = { 'content-type': signedResponse.contentType, ...signed }
      const request = { method: 'GET', url: `https://api.example${rawPath}?${rawQueryString}` }
      const { ok } = await verifyAnswer(
        { request, answer: { status: 200, headers, body: signedResponse.body } },
        { keys: [publicKeyOf(signingKey)] },
      )
      return ok
    }
    const [token, pool] = [findBridgeTokenBySymbol(8453, 'USDC')?.address, evmChain(8453)?.bridge?.pool]
    if (!token || !pool) throw new Error('The bridge takes USDC on Base.')
    const { value, ...call } = buildRefundClaim(pool, token, ALICE.address)
    const claim = { chainId: 8453, ...call, value: `${value}` }
    const status = (changed: object = {}) => ({
      ...{ depositor: ALICE.address, transfers: [] },
      refund: { chainId: 8453, token, claim: { ...claim, ...changed } },
    })
    for (const account of [ALICE.address, undefined]) {
      expect(await verify(status(), account)).toBe(true)
      expect(await verify({ refund: null, transfers: [status()] }, account)).toBe(true)
      const { data } = buildRefundClaim(pool, token, BOB.address)
      for (const changed of [{ data }, { to: BOB.address }, { value: '1' }, { chainId: 10 }, { data: '0x' }]) {
        expect(await verify(status(changed), account), JSON.stringify(changed)).toBe(false)
        expect(await verify({ refund: null, transfers: [status(changed)] }, account)).toBe(false)
      }
    }
    expect(await verify(status(), BOB.address)).toBe(false)
  })

  test('on the responses that are signed', async () => {
    const contracts = Object.values<EndpointContract>(endpoints).filter(
      ({ path, response }) => path !== '$default' && !(response instanceof z.ZodUndefined),
    )
    for (const contract of contracts) {
      const path = contract.path.replaceAll(/{(\w+)}/g, 'some')
      const fetchUnsigned = async () => new Response('{}', { headers: { 'content-type': 'application/json' } })
      const reply = verifyingFetch({ keys: [] }, fetchUnsigned)(`https://api.example${path}`, {
        method: contract.method,
        ...(contract.method === 'POST' && { body: '{}' }),
      })
      if (isSigned(contract)) await expect(reply, path).rejects.toThrow('not signed')
      else expect((await reply).status, path).toBe(200)
    }
  })

  test.for(['health', 'openapi.json'])('on a response whose path ends with the parameter %s', async (vaultAddress) => {
    const forged = verifyingFetch({ keys: [] }, async () => Response.json({ operations: [] }))
    const asked = forged(`https://api.example/defi-vaults/v1/vault/${vaultAddress}`)
    await expect(asked).rejects.toThrow('not signed')
  })
})

describe('The entry', () => {
  test('is at most 9.6 kB, with nothing beside it', async () => {
    const { outputFiles, metafile } = await build({
      stdin: { contents: "export * from './verify.ts'", resolveDir: 'client/src', loader: 'ts' },
      ...{ bundle: true, minify: true, format: 'esm', write: false, metafile: true },
    })
    expect(Object.keys(metafile.inputs).filter((file) => file.includes('node_modules'))).toEqual([])
    expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThan(9600)
  })
})
