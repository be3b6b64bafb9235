import fc from 'fast-check'
import { toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { readLiveAccount } from '../../../lib/activity/account-vaults.ts'
import {
  buildDepositResponse,
  buildWithdrawalResponse,
  DepositResponse,
  WithdrawalResponse,
} from '../../../lib/activity/entry-responses.ts'
import { buildPosition, hasPlausibleAmounts } from '../../../lib/activity/position.ts'
import { buildPositionResponse, PositionResponse } from '../../../lib/activity/responses.ts'
import { buildWithdrawals } from '../../../lib/activity/withdrawals.ts'
import { createChainReader } from '../../../lib/chain/reader.ts'
import { EVM_CHAINS, type EvmChain } from '../../../lib/chain/registry.ts'
import { checksumAddress, MAX_UINT256 } from '../../../lib/core/codecs.ts'
import { AppError } from '../../../lib/core/errors.ts'
import type { LedgerEntry } from '../../../lib/protocols/ledger-entry.ts'
import { getProtocol } from '../../../lib/protocols/protocols.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import { accountHistories, ledgerPosition, locateEntries, UNUSED_ACCOUNT } from '../../support/ledger-entries.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const amount = fc.bigInt({ min: 0n, max: 10n ** 24n })
const unreachable = createChainReader(EVM_CHAINS[0] as EvmChain, () =>
  Promise.reject(new AppError('upstream_unavailable')),
)

describe('A position', () => {
  test('exists only with a ledger entry', () => {
    fc.assert(
      fc.property(accountHistories, ({ entries, live }) => {
        expect(buildPosition([], live)).toBeNull()
        if (entries.length > 0) expect(buildPosition(entries, live)).not.toBeNull()
      }),
    )
  })

  test('has earned its value plus withdrawals minus deposits', () => {
    fc.assert(
      fc.property(accountHistories, amount, amount, ({ entries, live }, pendingRedeemShares, claimableRedeemAssets) => {
        const position = buildPosition(entries, { ...live, pendingRedeemShares, claimableRedeemAssets })
        if (!position) return
        const { totalDepositedAssets, totalWithdrawnAssets, currentValue, earnedAssets } = position
        expect(earnedAssets).toBe(currentValue + totalWithdrawnAssets - totalDepositedAssets)
        expect(currentValue).toBe(
          live.pendingAssets +
            live.worth(live.shares + live.claimableShares + pendingRedeemShares) +
            claimableRedeemAssets,
        )
      }),
    )
  })

  test('counts deposits and withdrawals that were not cancelled', () => {
    fc.assert(
      fc.property(accountHistories, ({ entries, live }) => {
        const position = buildPosition(entries, live)
        if (!position) return
        let [deposited, withdrawn] = [0n, 0n]
        let sinceSettled: bigint[] = []
        let lastRequest = 0n
        for (const entry of entries) {
          if (entry.kind === 'deposit' && entry.requestId > 0n) {
            if (entry.requestId !== lastRequest) sinceSettled = []
            lastRequest = entry.requestId
            sinceSettled.push(entry.assets)
          }
          if (entry.kind === 'cancel') {
            deposited -= sinceSettled.reduce((total, assets) => total + assets, 0n)
            sinceSettled = []
          } else if (entry.kind === 'deposit' || entry.kind === 'receive') deposited += entry.assets ?? 0n
          else if (entry.kind === 'withdraw' || entry.kind === 'send') withdrawn += entry.assets ?? 0n
        }
        expect([position.totalDepositedAssets, position.totalWithdrawnAssets]).toEqual([deposited, withdrawn])
      }),
    )
  })

  test('values shares that moved before the first price at today’s price, with no earnings', () => {
    const moved = locateEntries([
      { kind: 'receive', assets: null, shares: 10n },
      { kind: 'send', assets: null, shares: 4n },
    ])
    const live = { ...UNUSED_ACCOUNT, shares: 6n, worth: (shares: bigint) => 3n * shares }
    expect(buildPosition(moved, live)).toMatchObject({
      totalDepositedAssets: 30n,
      totalWithdrawnAssets: 12n,
      currentValue: 18n,
      earnedAssets: 0n,
    })
  })

  test('is the same with cancelled redemptions as without them', () => {
    fc.assert(
      fc.property(accountHistories, ({ entries, live }) => {
        const others = entries.filter(({ kind }) => kind !== 'redeem' && kind !== 'cancelRedeem')
        expect(buildPosition(others, live)).toEqual(buildPosition(entries, live))
      }),
    )
  })

  test('counts and dates only deposits that are not cancelled', () => {
    fc.assert(
      fc.property(accountHistories, ({ entries, live }) => {
        const position = buildPosition(entries, live)
        if (!position) return
        const { deposits, depositCount, startDate, lastDepositDate, statusBreakdown } = position
        const standing = deposits.filter(({ status }) => status !== 'cancelled').map(({ entry }) => entry.timestamp)
        const { pending, claimable, completed } = statusBreakdown
        expect(depositCount).toBe(standing.length)
        expect(pending + claimable + completed).toBe(depositCount)
        expect([startDate, lastDepositDate]).toEqual(
          standing.length > 0 ? [standing[0], standing.at(-1)] : [entries[0]?.timestamp, entries[0]?.timestamp],
        )
      }),
    )
  })
})

describe('Arbitrary state of a vault', () => {
  const word = fc.oneof(
    { weight: 8, arbitrary: fc.bigInt({ min: 0n, max: 10n ** 12n }) },
    fc.bigInt({ min: 0n, max: MAX_UINT256 }),
    fc.constantFrom(0n, 1n, 2n ** 53n, 2n ** 255n, MAX_UINT256),
  )
  /** Claimable shares as the service computes them from the vault's storage. A faulty vault may store any number. */
  const settled = fc.option(fc.bigInt({ min: -1n, max: 2n ** 257n }))
  const decimals = fc.oneof(fc.integer({ min: 0, max: 77 }), fc.constantFrom(6, 18, 59, 60, 77))
  const someAddress = checksumAddress(ledgerPosition(0).vault)
  const vaults = fc.record({
    protocol: fc.constantFrom('erc4626' as const, 'erc7540' as const, 'lagoon' as const),
    assetDecimals: decimals,
    shareDecimals: decimals,
  })
  const parts = {
    lagoon: { protocol: 'lagoon', safe: someAddress, valuationManager: someAddress, pendingSilo: someAddress },
    erc7540: {
      protocol: 'erc7540',
      isDepositAsync: true,
      isRedemptionAsync: true,
      cancelsDeposits: true,
      cancelsRedemptions: true,
    },
    erc4626: { protocol: 'erc4626' },
  } as const
  const vaultOf = ({
    protocol,
    ...facts
  }: {
    protocol: 'erc4626' | 'erc7540' | 'lagoon'
    assetDecimals: number
    shareDecimals: number
  }): Vault => ({
    ...facts,
    ...parts[protocol],
    poolId: 'pool',
    chainId: 8453,
    address: someAddress,
    name: 'Vault',
    description: '',
    logoUrl: '',
    riskProfile: '',
    riskProtocol: '',
    asset: someAddress,
    assetSymbol: 'USDC',
    shareToken: someAddress,
    hasCap: false,
    firstBlock: 1,
    addedAt: new Date(0),
  })
  const entries = fc.array(
    fc.record({
      kind: fc.constantFrom('deposit', 'cancel', 'claim', 'redeem', 'cancelRedeem', 'withdraw', 'receive', 'send'),
      requestId: word,
      assets: word,
      shares: word,
      isClaim: fc.boolean(),
    }),
    { maxLength: 4 },
  )

  test('leads to an AppError or to a valid response', async () => {
    let reports = 0
    const answers = fc.array(fc.option(word, { freq: 40 }), { minLength: 20, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(vaults, answers, settled, entries, async (facts, words, claimable, happened) => {
        const vault = vaultOf(facts)
        const query = getProtocol(vault).account(vault, someAddress)
        let next = 0
        const answer = () => words[next++ % words.length]
        const decode = (view: { decode: (data: `0x${string}`) => unknown }) => {
          const value = answer()
          try {
            return typeof value !== 'bigint' ? undefined : view.decode(toHex(value, { size: 32 }))
          } catch {
            return undefined
          }
        }

        const reading = {
          words: query.slots.map(() => answer() ?? 0n),
          answers: query.calls.map(decode),
        }
        const all = happened.map((entry, index) => ({ ...ledgerPosition(index), ...entry }) as LedgerEntry)
        try {
          const account = await readLiveAccount(query.parse(reading), unreachable, 1n, async () => all)
          const live = claimable === null ? account : { ...account, claimableShares: claimable }
          if (!hasPlausibleAmounts(all, live)) return
          const position = buildPosition(all, live)
          if (!position) return
          const of = { vault, live, entries: all, asOf: new Date(0) }
          const view = PositionResponse.encode(
            buildPositionResponse(of, position, { account: someAddress, annualYield: null }),
          )
          expect(PositionResponse.parse(view)).toBeDefined()
          z.array(DepositResponse).encode(
            position.deposits.map((deposit) => buildDepositResponse(of, deposit, null, undefined)),
          )
          z.array(WithdrawalResponse).encode(
            buildWithdrawals(all, live).map((withdrawal) => buildWithdrawalResponse(of, withdrawal, null)),
          )
          reports += 1
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }),
      { numRuns: scaleSampleCount(1_000) },
    )
    expect(reports).toBeGreaterThan(10)
  })
})
