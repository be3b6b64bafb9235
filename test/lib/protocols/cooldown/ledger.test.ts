import fc from 'fast-check'
import { type Address, encodeAbiParameters, encodeEventTopics, erc20Abi, getAddress, numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { buildForeignTransferFilters, parseVaultEvents } from '../../../../lib/activity/events.ts'
import { deriveLedgerEntries } from '../../../../lib/activity/fold.ts'
import { buildPosition } from '../../../../lib/activity/position.ts'
import { buildWithdrawals } from '../../../../lib/activity/withdrawals.ts'
import { Log } from '../../../../lib/chain/logs.ts'
import type { LedgerEntry } from '../../../../lib/protocols/ledger-entry.ts'
import { UNUSED_ACCOUNT } from '../../../support/ledger-entries.ts'
import { COOLDOWN_VAULT, SYNC_VAULT } from '../../../support/vaults-in-memory.ts'
import { YIELD_VAULT_ABI } from '../../../support/yield-vault-abi.ts'

const [ALICE, BOB]: [Address, Address] = [
  '0x0000000000000000000000000000000000000001',
  '0x0000000000000000000000000000000000000002',
]
const { silo, asset, address } = COOLDOWN_VAULT

type Place = { readonly index: number }

function logOf(at: Address, { index }: Place, topics: readonly unknown[], amounts: readonly bigint[]): Log {
  return Log.parse({
    address: at.toLowerCase(),
    topics,
    data: encodeAbiParameters(
      amounts.map(() => ({ type: 'uint256' })),
      [...amounts],
    ),
    logIndex: '0x0',
    blockNumber: numberToHex(index + 1),
    transactionHash: numberToHex(index + 1, { size: 32 }),
  })
}

const withdrawLog = (place: Place, owner: Address, receiver: Address, assets: bigint, shares: bigint) => {
  const args = { sender: owner, receiver, owner }
  return logOf(address, place, encodeEventTopics({ abi: YIELD_VAULT_ABI, eventName: 'Withdraw', args }), [
    assets,
    shares,
  ])
}
const transferLog = (place: Place, from: Address, to: Address, value: bigint, token = asset) =>
  logOf(token, place, encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from, to } }), [value])

const entriesOf = (logs: readonly Log[]) =>
  deriveLedgerEntries(
    COOLDOWN_VAULT,
    parseVaultEvents([COOLDOWN_VAULT], logs, () => 1_800_000_000n),
  )
const whatHappened = (entries: readonly LedgerEntry[]) =>
  entries.map(
    ({ chainId: _, vault: __, transactionHash: ___, blockNumber: ____, logIndex: _5, timestamp: _6, ...own }) => own,
  )

describe('The ledger of a cooldown vault', () => {
  test('has a withdrawal to the silo as a request, and any other as a payment', () => {
    const logs = [withdrawLog({ index: 0 }, ALICE, silo, 5n, 7n), withdrawLog({ index: 1 }, ALICE, BOB, 2n, 3n)]
    expect(whatHappened(entriesOf(logs))).toEqual([
      { account: ALICE, kind: 'redeem', requestId: 0n, assets: 5n, shares: 7n },
      { account: ALICE, kind: 'withdraw', assets: 2n, shares: 3n, isClaim: false },
    ])
  })

  test('reads the silo’s payments of the asset, and no other transfers', () => {
    const logs = [
      transferLog({ index: 0 }, silo, BOB, 5n),
      transferLog({ index: 1 }, BOB, ALICE, 5n),
      transferLog({ index: 2 }, silo, BOB, 0n),
      transferLog({ index: 3 }, silo, BOB, 5n, '0x0000000000000000000000000000000000000003'),
    ]
    expect(whatHappened(entriesOf(logs))).toEqual([{ account: BOB, kind: 'paid', assets: 5n }])
    expect(buildForeignTransferFilters([SYNC_VAULT])).toEqual([])
    const [filter] = buildForeignTransferFilters([SYNC_VAULT, COOLDOWN_VAULT])
    expect(filter?.address).toEqual([getAddress(asset)])
    expect(filter?.topics[1]).toEqual([`0x${silo.slice(2).toLowerCase().padStart(64, '0')}`])
  })
})

test('An account’s requests are the sum of its pending, claimable and paid amounts', () => {
  const step = fc.record({
    do: fc.constantFrom('request', 'request', 'take', 'takeElsewhere', 'stranger'),
    assets: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    price: fc.bigInt({ min: 1n, max: 9n }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.boolean(), (life, isOver) => {
      let [waits, requested] = [0n, 0n]
      const logs = life.flatMap((each, index) => {
        if (each.do === 'request') {
          waits += each.assets
          requested += each.assets
          return [withdrawLog({ index }, ALICE, silo, each.assets, each.assets * each.price)]
        }
        // The third party's payment is larger than all pending requests. The service can therefore not mistake it for
        // one of them.
        if (each.do === 'stranger') return [transferLog({ index }, silo, ALICE, 10n ** 18n + each.assets)]
        const paid = waits
        waits = 0n
        return [transferLog({ index }, silo, each.do === 'take' ? ALICE : BOB, paid)]
      })
      const entries = entriesOf(logs).filter(({ account }) => account === ALICE)
      const cooldown = { pendingAssets: isOver ? 0n : waits, claimableAt: null, hasBegun: true }
      const live = { ...UNUSED_ACCOUNT, claimableRedeemAssets: isOver ? waits : 0n, cooldown }
      const withdrawals = buildWithdrawals(entries, live)
      const total = (of: (one: (typeof withdrawals)[number]) => bigint) =>
        withdrawals.reduce((sum, one) => sum + of(one), 0n)
      expect(total(({ paidAssets }) => paidAssets)).toBe(requested - waits)
      expect(total(({ claimableAssets }) => claimableAssets)).toBe(isOver ? waits : 0n)
      expect(total(({ entry }) => entry.assets ?? 0n)).toBe(requested)
      for (const { entry, status, pendingShares, claimableShares, paidShares } of withdrawals) {
        const parts = { pending: pendingShares, claimable: claimableShares, completed: paidShares, cancelled: 0n }
        expect(parts[status]).toBe(entry.shares)
      }
      const deposited = { ...entries[0], kind: 'deposit', requestId: 0n, assets: requested, shares: 0n } as LedgerEntry
      const position = buildPosition([deposited, ...entries], live)
      if (entries.length === 0) return
      expect(position?.totalWithdrawnAssets).toBe(requested - waits)
      expect(position?.earnedAssets).toBe(0n)
    }),
  )
})
