import { expect, test } from 'vitest'
import type { Deposit, Withdrawal } from '../../client/src/index.ts'
import { describeDeposit, describeWithdrawal, type Movement, mergeHistories } from '../../wallet/src/activity.ts'

const place = {
  vaultAddress: '0xF2ea27c7b2e586B61af27223A7707356F685F718',
  vaultName: 'Harbor USDC',
  userAddress: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  chainId: 8453,
  vault: {
    apy: '6.45',
    annualYield: null,
    assetSymbol: 'USDC',
    assetDecimals: 6,
    shareDecimals: 18,
    sharePrice: '1050000',
  },
  epochId: 1,
  timestamp: '2026-11-01T00:00:00.000Z',
  transactionHash: '0xaa',
} as const

const deposit: Deposit = {
  ...place,
  depositId: '8453-0xaa-1',
  status: 'pending',
  statusDescription: '',
  amounts: { depositedAssets: '25000000', pendingDeposit: '25000000', claimableShares: '0', currentShares: '0' },
}

const withdrawal: Withdrawal = {
  ...place,
  withdrawalId: '8453-0xaa-2',
  status: 'pending',
  statusDescription: '',
  shares: '2000000000000000000',
  assets: null,
  amounts: {
    ...{ pendingShares: '2000000000000000000', claimableShares: '0', claimableAssets: '0' },
    ...{ paidShares: '0', paidAssets: '0', cancelledShares: '0' },
  },
  claimTransactionHash: null,
}

const at = (...times: string[]): Movement[] =>
  times.map((time) => ({ ...describeDeposit(deposit), id: time, timestamp: time }))

test('A deposit from another chain has its transaction there, too', () => {
  const source = { chainId: 42161, transactionHash: '0xbb' } as const
  expect(describeDeposit({ ...deposit, source }).hashes).toEqual([
    { what: 'Sent', hash: '0xbb', chainId: 42161 },
    { what: 'Arrived', hash: '0xaa', chainId: 8453 },
  ])
})

test('A deposit that is settled is requested first, one at once is deposited', () => {
  expect(describeDeposit(deposit).hashes.map(({ what }) => what)).toEqual(['Requested'])
  expect(describeDeposit({ ...deposit, epochId: 0 }).hashes.map(({ what }) => what)).toEqual(['Deposited'])
})

test('What a withdrawal pays is unknown until it is settled, and estimated where the decimals of shares are known', () => {
  expect(describeWithdrawal(withdrawal, 18)).toMatchObject({ assets: null, estimate: 2_100_000n })
  expect(describeWithdrawal(withdrawal, undefined)).toMatchObject({ assets: null, estimate: null })
  expect(describeWithdrawal({ ...withdrawal, assets: '2050000' }, 18).assets).toBe(2_050_000n)
})

test('A withdrawal that was paid at once has one transaction', () => {
  const paid = { ...withdrawal, status: 'completed', assets: '1', claimTransactionHash: '0xaa' } as const
  expect(describeWithdrawal(paid, 18).hashes).toEqual([{ what: 'Withdrawn', hash: '0xaa', chainId: 8453 }])
  const claimed = { ...paid, claimTransactionHash: '0xcc' } as const
  expect(describeWithdrawal(claimed, 18).hashes.map(({ what }) => what)).toEqual(['Requested', 'Paid'])
})

test('Histories are merged newest first, and end where one of them is not loaded further', () => {
  const merged = mergeHistories([
    { movements: at('2026-11-09', '2026-11-05'), hasMore: true },
    { movements: at('2026-11-07', '2026-11-03', '2026-11-01'), hasMore: false },
  ])
  expect(merged.map(({ timestamp }) => timestamp)).toEqual(['2026-11-09', '2026-11-07', '2026-11-05'])
})

test('Histories that are loaded to their ends are merged whole', () => {
  const merged = mergeHistories([
    { movements: at('2026-11-05'), hasMore: false },
    { movements: at('2026-11-07', '2026-11-01'), hasMore: false },
  ])
  expect(merged.map(({ timestamp }) => timestamp)).toEqual(['2026-11-07', '2026-11-05', '2026-11-01'])
})
