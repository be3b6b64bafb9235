import { type Address, type Hex, pad, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import type { BridgeRequest } from '../../../lib/bridge/calldata.ts'
import type { SimulatedTransaction } from '../../../lib/chain/simulation.ts'
import { toResult } from '../../../lib/core/result.ts'
import { prepareOnwardTransfer, type VaultPayment } from '../../../lib/prepare/onward.ts'
import { emptyPlan } from '../../../lib/prepare/transfer.ts'
import type { Operation } from '../../../lib/protocols/calldata.ts'
import { redeem, withdraw } from '../../../lib/protocols/erc4626/calldata.ts'
import { buildEventLog, TOKEN } from '../../support/bridge-events.ts'
import { createMemoryChainReader } from '../../support/chain-in-memory.ts'
import { someVault } from '../../support/clients.ts'
import { ARBITRUM, BASE, decodeBridgeDeposit } from '../../support/oracles.ts'

const [USER, SAFE] = ['0xd1', '0xd2'].map((byte) => pad(byte as Hex, { size: 20 })) as [Address, Address]
const VAULT = someVault({ chainId: BASE, asset: TOKEN })
const DESTINATION_TOKEN: Address = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const NOW = 1_800_000_000

const transfer = (from: Address, to: Address, value: bigint, token = TOKEN) =>
  buildEventLog(token, 'Transfer', { from, to, value })
const buildSimulatedCall = (...logs: ReturnType<typeof transfer>[]): SimulatedTransaction => ({
  ...{ status: 'success', gasUsed: 1n, returnData: '0x' },
  logs,
})
const buildPayment = (amount: bigint) => buildSimulatedCall(transfer(SAFE, USER, amount))

type Paying = Partial<Omit<VaultPayment, 'intents'>> & { readonly operation?: Operation }

async function sentOf({ operation = redeem, ...payment }: Paying): Promise<bigint | string> {
  const answers = {
    ...{ getCurrentTime: BigInt(NOW), depositQuoteTimeBuffer: 3_600, fillDeadlineBuffer: 21_600 },
    ...{ pausedDeposits: false, pausedFills: false, allowance: 0n },
  }
  const getReader = (id: number) => createMemoryChainReader({ id, times: [BigInt(NOW)], contracts: { answers } })
  const fetchQuote = async ({ inputAmount }: BridgeRequest) => ({
    ...{ outputAmount: inputAmount, quoteTimestamp: NOW, fillDeadline: NOW + 7_200, expectedFillSeconds: 3 },
    ...{ exclusiveRelayer: zeroAddress, exclusivityParameter: 0, limits: { min: 1n, max: 10n ** 9n } },
  })
  const destination = { chainId: ARBITRUM, token: DESTINATION_TOKEN }
  const withdrawal = { vault: VAULT, account: USER, destination }
  const services = { getReader, fetchQuote, integratorId: undefined }
  const { read, send } = prepareOnwardTransfer(services, withdrawal)
  await read(emptyPlan(VAULT.address), [])
  const count = payment.results?.length ?? 1
  const intent = { operation, request: { vault: VAULT, account: USER, amount: 7n } }
  const intents = Array.from({ length: count }, () => intent)
  const prepared = await toResult(
    send({ intents, results: undefined, reported: 10n ** 9n, field: 'amount', ...payment }),
  )
  if ('error' in prepared) return prepared.error.code
  const { operations, quote } = prepared.value
  expect(operations).toHaveLength(count + 1)
  expect(decodeBridgeDeposit(operations.at(-1)?.data ?? '0x').inputAmount).toBe(quote.inputAmount)
  return quote.inputAmount
}

describe('The sent amount is the vault’s payment in the dry run:', () => {
  test.for<[what: string, calls: readonly SimulatedTransaction[], sent: bigint]>([
    ['transfers of the asset to the account', [buildPayment(100n)], 100n],
    ['the sum of all calls', [buildPayment(100n), buildPayment(20n)], 120n],
    ['minus a fee of the asset', [buildSimulatedCall(transfer(SAFE, USER, 100n), transfer(USER, SAFE, 3n))], 97n],
    [
      'without transfers elsewhere',
      [buildSimulatedCall(transfer(SAFE, USER, 100n), transfer(SAFE, VAULT.address, 3n))],
      100n,
    ],
    [
      'without transfers of the account to itself',
      [buildSimulatedCall(transfer(SAFE, USER, 100n), transfer(USER, USER, 9n))],
      100n,
    ],
    [
      'without transfers of another token',
      [buildSimulatedCall(transfer(SAFE, USER, 100n), transfer(SAFE, USER, 9n, SAFE))],
      100n,
    ],
  ])('%s', async ([, calls, sent]) => {
    expect(await sentOf({ results: calls })).toBe(sent)
  })
})

describe('The sent amount is at most the guaranteed payment:', () => {
  test.for<[what: string, payment: Paying, sent: bigint | string]>([
    ['the requested amount if the vault pays more', { results: [buildPayment(100n)], amount: 60n }, 60n],
    ['the payment if more is requested', { results: [buildPayment(100n)], amount: 101n }, 100n],
    ['the reported payment if the simulation shows more', { results: [buildPayment(100n)], reported: 40n }, 40n],
    [
      'nothing if the vault reports no payment',
      { results: [buildPayment(100n)], reported: undefined },
      'cross_chain_not_available',
    ],
    ['the requested amount without a simulation', { operation: withdraw, amount: 60n }, 60n],
    ['nothing if the payment is unknown', {}, 'cross_chain_not_available'],
    ['nothing if the vault pays nothing', { results: [buildSimulatedCall()] }, 'amount_too_low_for_bridge'],
    [
      'nothing if the vault reverts',
      { results: [{ status: 'reverted', gasUsed: 1n, reason: 'Closed' }] },
      'withdrawal_refused',
    ],
  ])('%s', async ([, payment, sent]) => {
    expect(await sentOf(payment)).toBe(sent)
  })
})
