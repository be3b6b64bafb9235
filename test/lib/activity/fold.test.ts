import fc from 'fast-check'
import { type Address, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { hasPossibleAmounts, valueAndDeriveEntries } from '../../../lib/activity/fold.ts'
import { MAX_UINT256 } from '../../../lib/core/codecs.ts'
import { isShareTransfer, type Ledger, type VaultEvent } from '../../../lib/protocols/books.ts'
import type { BlockPrice } from '../../../lib/vaults/prices.ts'

const EMPTY_LEDGER = { assets: 0n, supply: 0n }

const VAULT: Address = '0x00000000000000000000000000000000000000A1'
const SILO: Address = '0x00000000000000000000000000000000000000b2'
const [ALICE, BOB, FEES]: [Address, Address, Address] = [
  '0x0000000000000000000000000000000000000C01',
  '0x0000000000000000000000000000000000000C02',
  '0x0000000000000000000000000000000000000C03',
]
const COMMON = {
  chainId: 8453,
  address: VAULT,
  asset: VAULT,
  assetSymbol: 'USDC',
  assetDecimals: 6,
  shareToken: VAULT,
  firstBlock: 1,
} as const
const LAGOON = {
  ...COMMON,
  protocol: 'lagoon',
  safe: VAULT,
  valuationManager: VAULT,
  pendingSilo: SILO,
  shareDecimals: 18,
} as const
const SYNC = { ...COMMON, protocol: 'erc4626', shareDecimals: 6 } as const
const ASYNC = {
  ...COMMON,
  protocol: 'erc7540',
  shareDecimals: 6,
  ...{ isDepositAsync: true, isRedemptionAsync: true, cancelsDeposits: true, cancelsRedemptions: true },
} as const
const OFFSET = 10n ** 12n

type VaultEventInput = { readonly eventName: string; readonly args: Record<string, unknown> }
const transfer = (from: Address, to: Address, value: bigint): VaultEventInput => ({
  eventName: 'Transfer',
  args: { from, to, value },
})
const mint = (to: Address, value: bigint) => transfer(zeroAddress, to, value)
const valued = (totalAssets: bigint): VaultEventInput => ({ eventName: 'TotalAssetsUpdated', args: { totalAssets } })
const trade = (
  eventName: 'Deposit' | 'Withdraw' | 'WithdrawSync',
  owner: Address,
  assets: bigint,
  shares: bigint,
): VaultEventInput => ({
  eventName,
  args: { sender: owner, receiver: owner, owner, assets, shares },
})

/** Builds the events of a chain. Each inner list is one transaction in a block of its own. */
const chain = (transactions: readonly (readonly VaultEventInput[])[]): VaultEvent[] =>
  transactions.flatMap((events, block) =>
    events.map((event, logIndex) => ({
      ...event,
      vault: VAULT,
      location: {
        chainId: 8453,
        blockNumber: BigInt(block + 1),
        logIndex,
        transactionHash: `0x${(block + 1).toString(16).padStart(64, '0')}` as const,
        timestamp: BigInt(1_795_132_800 + block),
      },
    })),
  )

/**
 * Converts a vault's events into ledger entries. The last known price is by default the ratio of the ledger's totals.
 */
const post = (
  vault: typeof LAGOON | typeof SYNC | typeof ASYNC,
  ledger: Ledger,
  events: readonly VaultEvent[],
  lastPrices: readonly BlockPrice[] = ledger.supply > 0n ? [readAt(0n, ledger)] : [],
) => valueAndDeriveEntries(vault, { ledger, lastPrices }, events)

const readAt = (blockNumber: bigint, { assets, supply }: Ledger) => ({
  price: (10n ** 6n * assets) / supply,
  blockNumber,
  timestamp: blockNumber,
})

const summarizeEntries = (
  vault: typeof LAGOON | typeof SYNC | typeof ASYNC,
  transactions: readonly (readonly VaultEventInput[])[],
  before?: Ledger,
) =>
  post(vault, before ?? EMPTY_LEDGER, chain(transactions)).entries.map(({ account, kind, ...rest }) => [
    account,
    kind,
    'assets' in rest ? rest.assets : undefined,
    'shares' in rest ? rest.shares : undefined,
  ])

const worth = ({ assets, supply }: Ledger, shares: bigint) => (shares * (assets + 1n)) / (supply + OFFSET)

describe('The events of a Lagoon vault', () => {
  const before = { assets: 1_000_000_000n, supply: 900n * 10n ** 18n }

  test('report transfers between users at their value at that time, and none through the vault', () => {
    const shares = 7n * 10n ** 18n
    const value = worth(before, shares)
    expect(summarizeEntries(LAGOON, [[transfer(ALICE, BOB, shares)]], before)).toEqual([
      [ALICE, 'send', value, shares],
      [BOB, 'receive', value, shares],
    ])
    const inside = [transfer(ALICE, SILO, 1n), transfer(SILO, ALICE, 1n), transfer(zeroAddress, VAULT, 1n)]
    expect(
      summarizeEntries(LAGOON, [[...inside, transfer(ALICE, ALICE, 1n), transfer(ALICE, BOB, 0n)]], before),
    ).toEqual([])
    expect(summarizeEntries(LAGOON, [[transfer(SILO, zeroAddress, 1n)]], before)).toEqual([])
  })

  test('report a redemption for its controller, and one for another account also as a gift', () => {
    const requested = (controller: Address): VaultEventInput => ({
      eventName: 'RedeemRequest',
      args: { controller, owner: ALICE, requestId: 2n, sender: ALICE, shares: OFFSET },
    })
    const redeems = (of: Address) => [of, 'redeem', undefined, OFFSET]
    expect(summarizeEntries(LAGOON, [[transfer(ALICE, SILO, OFFSET), requested(ALICE)]], before)).toEqual([
      redeems(ALICE),
    ])
    const value = worth(before, OFFSET)
    expect(summarizeEntries(LAGOON, [[transfer(ALICE, SILO, OFFSET), requested(BOB)]], before)).toEqual([
      redeems(BOB),
      [ALICE, 'send', value, OFFSET],
      [BOB, 'receive', value, OFFSET],
    ])
  })

  test('report a cancelled redemption for its controller, and none of zero shares', () => {
    const cancelled = (shares: bigint): VaultEventInput => ({
      eventName: 'RedeemRequestCanceled',
      args: { requestId: 2n, controller: ALICE, shares },
    })
    const events = [transfer(SILO, ALICE, OFFSET), cancelled(OFFSET), transfer(SILO, ALICE, 0n), cancelled(0n)]
    expect(summarizeEntries(LAGOON, [events], before)).toEqual([[ALICE, 'cancelRedeem', undefined, OFFSET]])
  })

  test('distinguish a claim from an instant payment by the burn only, whoever claims or is paid', () => {
    const [assets, shares] = [1_111_111n, 10n ** 18n]
    const paid = (sender: Address, receiver: Address, eventName = 'Withdraw'): VaultEventInput => ({
      eventName,
      args: { sender, receiver, owner: ALICE, assets, shares },
    })
    const burn = transfer(ALICE, zeroAddress, shares)
    const atOnce = [burn, mint(FEES, 1n), paid(ALICE, BOB)]
    const isClaim = (...events: VaultEventInput[]) =>
      post(LAGOON, before, chain([events])).entries.flatMap((entry) =>
        entry.kind === 'withdraw' ? [[entry.account, entry.isClaim]] : [],
      )
    // One transaction has a claim from the vault to Alice, a claim from Alice to Bob, and an instant redemption by
    // Alice.
    expect(isClaim(paid(VAULT, ALICE), paid(ALICE, BOB), ...atOnce, paid(ALICE, ALICE))).toEqual([
      [ALICE, true],
      [ALICE, true],
      [ALICE, false],
      [ALICE, true],
    ])
    expect(isClaim(burn, paid(ALICE, ALICE, 'WithdrawSync'), paid(ALICE, ALICE))).toEqual([
      [ALICE, false],
      [ALICE, true],
    ])
    const { entries } = post(SYNC, EMPTY_LEDGER, chain([[trade('Withdraw', ALICE, assets, shares)]]))
    expect(entries).toMatchObject([{ kind: 'withdraw', isClaim: false }])
  })

  test('explain a burn only by the vault’s next event, and each burn once', () => {
    const [assets, shares] = [1_111_111n, 10n ** 18n]
    const [claim, fees] = [trade('Withdraw', ALICE, assets, shares), [mint(FEES, 9n), mint(BOB, 1n)]]
    const burn = transfer(ALICE, zeroAddress, shares)
    // One transaction has four claims and one redemption from a closed vault. All have the same amount.
    const multicall = [claim, claim, burn, ...fees, claim, claim, claim]
    expect(post(LAGOON, before, chain([multicall])).ledger).toEqual({
      assets: before.assets - assets,
      supply: before.supply - shares + 10n,
    })
    const others = [transfer(BOB, zeroAddress, shares), claim, burn, trade('Withdraw', ALICE, assets, shares + 1n)]
    expect(post(LAGOON, before, chain([others])).ledger.assets).toBe(before.assets)
  })

  test('lower the total by more than the payment after a haircut, so that the price stays', () => {
    const [shares, fee, haircut] = [100n * 10n ** 18n, 10n ** 18n, 10n ** 19n]
    const events: VaultEventInput[] = [
      transfer(ALICE, zeroAddress, shares),
      ...[mint(FEES, fee - 7n), mint(BOB, 7n)],
      {
        eventName: 'WithdrawSync',
        args: { sender: ALICE, receiver: BOB, owner: ALICE, assets: worth(before, shares - fee - haircut), shares },
      },
    ]
    const { ledger, entries } = post(LAGOON, before, chain([events]))
    expect(ledger).toEqual({
      assets: before.assets - worth(before, shares - fee),
      supply: before.supply - shares + fee,
    })
    expect(entries.at(-1)).toMatchObject({ kind: 'withdraw', assets: worth(before, shares - fee - haircut), shares })
  })

  test('report nothing for amounts of zero', () => {
    const request = { controller: ALICE, owner: BOB, requestId: 1n, sender: BOB }
    const none: VaultEventInput[] = [
      { eventName: 'DepositRequest', args: { ...request, assets: 0n } },
      { eventName: 'RedeemRequest', args: { ...request, shares: 0n } },
      { eventName: 'DepositSync', args: { sender: BOB, owner: ALICE, assets: 0n, shares: 0n } },
      { eventName: 'Deposit', args: { sender: ALICE, owner: BOB, assets: 0n, shares: 0n } },
      trade('Withdraw', ALICE, 0n, 0n),
      mint(ALICE, 0n),
    ]
    expect(summarizeEntries(LAGOON, [none], before)).toEqual([])
    expect(summarizeEntries(SYNC, [[trade('Deposit', ALICE, 0n, 0n), trade('Withdraw', ALICE, 0n, 0n)]])).toEqual([])
  })

  test('explain one mint each, so that a second one of the same size is a gift', () => {
    const deposited: VaultEventInput = {
      eventName: 'DepositSync',
      args: { sender: BOB, owner: ALICE, assets: 5n, shares: OFFSET },
    }
    const after = { assets: before.assets + 5n, supply: before.supply + 2n * OFFSET }
    expect(summarizeEntries(LAGOON, [[mint(ALICE, OFFSET), mint(ALICE, OFFSET), deposited]], before)).toEqual([
      [ALICE, 'receive', worth(after, OFFSET), OFFSET],
      [ALICE, 'deposit', 5n, OFFSET],
    ])
    expect(
      summarizeEntries(LAGOON, [[mint(ALICE, OFFSET), mint(ALICE, OFFSET), deposited, deposited]], before),
    ).toEqual([
      [ALICE, 'deposit', 5n, OFFSET],
      [ALICE, 'deposit', 5n, OFFSET],
    ])
  })

  test('value a fee at the end of its transaction, although its mint precedes the assets', () => {
    const [fee, shares] = [3n * OFFSET, 10n ** 20n]
    const deposited: VaultEventInput = {
      eventName: 'DepositSync',
      args: { sender: BOB, owner: BOB, assets: 10n ** 9n, shares },
    }
    const after = { assets: before.assets + 10n ** 9n, supply: before.supply + fee + shares }
    expect(summarizeEntries(LAGOON, [[mint(FEES, fee), mint(BOB, shares), deposited]], before)).toEqual([
      [FEES, 'receive', worth(after, fee), fee],
      [BOB, 'deposit', 10n ** 9n, shares],
    ])
    const valuedAfter = { assets: 2n * before.assets, supply: before.supply + fee }
    expect(summarizeEntries(LAGOON, [[mint(FEES, fee), valued(2n * before.assets)]], before)).toEqual([
      [FEES, 'receive', worth(valuedAfter, fee), fee],
    ])
  })

  test('count a claim for its controller, and what another account receives of it as a gift', () => {
    const claimed = (owner: Address): VaultEventInput[] => [
      transfer(VAULT, owner, OFFSET),
      { eventName: 'Deposit', args: { sender: ALICE, owner, assets: 9n, shares: OFFSET } },
    ]
    const value = worth(before, OFFSET)
    expect(summarizeEntries(LAGOON, [claimed(ALICE)], before)).toEqual([[ALICE, 'claim', 9n, OFFSET]])
    expect(summarizeEntries(LAGOON, [claimed(BOB)], before)).toEqual([
      [ALICE, 'claim', 9n, OFFSET],
      [ALICE, 'send', value, OFFSET],
      [BOB, 'receive', value, OFFSET],
    ])
  })

  test('report one price per block with a valuation or settlement, after its fees, with the total', () => {
    const settled: VaultEventInput = { eventName: 'SettleRedeem', args: { totalAssets: 700_000_000n } }
    const fee = 10n ** 18n
    const { prices } = post(
      LAGOON,
      before,
      chain([
        [valued(990_000_000n), settled],
        [transfer(ALICE, BOB, 1n)],
        [valued(500_000_000n), mint(FEES, fee), mint(BOB, fee)],
      ]),
    )
    const price = (assets: bigint, fees = 0n) => worth({ assets, supply: before.supply + fees }, 10n ** 18n)
    expect(prices.map(({ price, totalAssets, blockNumber }) => [price, totalAssets, blockNumber])).toEqual([
      [price(700_000_000n), 700_000_000n, 1n],
      [price(500_000_000n, 2n * fee), 500_000_000n, 3n],
    ])
  })
})

describe('The events of a synchronous vault', () => {
  test('value shares by the last price read before them, not by a trade', () => {
    const traded = [trade('Deposit', ALICE, 10_000_000n, 5_000_000n)]
    const moved = [transfer(ALICE, BOB, 700n)]
    const events = chain([traded, moved, moved, moved])
    const prices = [readAt(1n, { assets: 11n, supply: 10n }), readAt(3n, { assets: 12n, supply: 10n })]
    const received = post(SYNC, EMPTY_LEDGER, events, prices).entries.filter(({ kind }) => kind === 'receive')
    // A price that was read after a block applies to share transfers from the next block on.
    expect(received.map((entry) => 'assets' in entry && entry.assets)).toEqual([770n, 770n, 840n])
  })

  test('report no value of shares that moved before the first price', () => {
    expect(summarizeEntries(SYNC, [[transfer(ALICE, BOB, 700n)]])).toEqual([
      [ALICE, 'send', null, 700n],
      [BOB, 'receive', null, 700n],
    ])
  })

  test('report no price, because their amounts include fees', () => {
    expect(post(SYNC, EMPTY_LEDGER, chain([[trade('Deposit', ALICE, 1_005_000n, 1_000_000n)]])).prices).toEqual([])
  })
})

describe('The events of an ERC-7540 vault', () => {
  const before = { assets: 2_000_000n, supply: 1_000_000n }
  const entriesOf = (...events: VaultEventInput[]) => post(ASYNC, before, chain([events])).entries

  test('name the payer of a request if it is not the controller', () => {
    const requests = (controller: Address): VaultEventInput[] => [
      { eventName: 'DepositRequest', args: { controller, owner: ALICE, requestId: 1n, sender: ALICE, assets: 7n } },
      transfer(ALICE, VAULT, 4n),
      { eventName: 'RedeemRequest', args: { controller, owner: ALICE, requestId: 2n, sender: ALICE, shares: 4n } },
    ]
    const payersOf = (controller: Address) =>
      entriesOf(...requests(controller)).flatMap((entry) =>
        entry.kind === 'deposit' || entry.kind === 'redeem' ? [[entry.account, entry.kind, entry.payer]] : [],
      )
    expect(payersOf(ALICE)).toEqual([
      [ALICE, 'deposit', undefined],
      [ALICE, 'redeem', undefined],
    ])
    expect(payersOf(BOB)).toEqual([
      [BOB, 'deposit', ALICE],
      [BOB, 'redeem', ALICE],
    ])
  })

  test('count a claim for its controller, and what another account receives of it as a gift', () => {
    // Some vaults mint shares at the claim. Other vaults transfer shares that they minted at the settlement.
    for (const from of [zeroAddress, VAULT]) {
      const claimed = (owner: Address): VaultEventInput[] => [
        transfer(from, owner, 5n),
        { eventName: 'Deposit', args: { sender: ALICE, owner, assets: 9n, shares: 5n } },
      ]
      const short = (owner: Address) => summarizeEntries(ASYNC, [claimed(owner)], before)
      expect(short(ALICE)).toEqual([[ALICE, 'claim', 9n, 5n]])
      expect(short(BOB)).toEqual([
        [ALICE, 'claim', 9n, 5n],
        [ALICE, 'send', 10n, 5n],
        [BOB, 'receive', 10n, 5n],
      ])
    }
  })
})

describe('A claimed cancellation of an ERC-7540 vault', () => {
  const before = { assets: 2_000_000n, supply: 1_000_000n }
  type Named = { readonly controller: Address; readonly receiver: Address; readonly sender: Address }

  test.for<[who: string, named: Named, controller: Address, receiver: Address]>([
    ['the controller for itself', { controller: ALICE, receiver: ALICE, sender: ALICE }, ALICE, ALICE],
    ['the controller for another account', { controller: ALICE, receiver: BOB, sender: ALICE }, ALICE, BOB],
    [
      'the controller of a vault that names the receiver first',
      { controller: BOB, receiver: ALICE, sender: ALICE },
      ALICE,
      BOB,
    ],
    ['an operator', { controller: ALICE, receiver: BOB, sender: FEES }, ALICE, BOB],
  ])('by %s belongs to the controller’s request, and its shares to the receiver', ([, named, controller, receiver]) => {
    const assetsBack: VaultEventInput = {
      eventName: 'CancelDepositClaim',
      args: { ...named, requestId: 1n, assets: 7n },
    }
    const sharesBack: VaultEventInput = {
      eventName: 'CancelRedeemClaim',
      args: { ...named, requestId: 2n, shares: 4n },
    }
    const giftEntries = [
      [controller, 'send', 8n, 4n],
      [receiver, 'receive', 8n, 4n],
    ]
    expect(summarizeEntries(ASYNC, [[assetsBack, transfer(VAULT, receiver, 4n), sharesBack]], before)).toEqual([
      [controller, 'cancel', 7n, undefined],
      [controller, 'cancelRedeem', undefined, 4n],
      ...(receiver === controller ? [] : giftEntries),
    ])
  })
})

describe('Invented amounts of a vault', () => {
  const supply = 10n ** 20n
  const before = { assets: 10n ** 9n, supply }

  test('are impossible if it burns more shares than its supply', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n * supply }), (burnt) => {
        const posted = post(LAGOON, before, chain([[transfer(SILO, zeroAddress, burnt)]]))
        expect(hasPossibleAmounts(posted)).toBe(burnt <= supply)
      }),
      { examples: [[supply], [supply + 1n]] },
    )
  })

  test('are impossible if it pays more assets than its total, or has more than 2^256 - 1', () => {
    const after = (event: VaultEventInput, ledger: Ledger) => hasPossibleAmounts(post(LAGOON, ledger, chain([[event]])))
    const pays = (assets: bigint): VaultEventInput => trade('WithdrawSync', ALICE, assets, 1n)
    expect(after(pays(before.assets), before)).toBe(true)
    expect(after(pays(before.assets + 1n), before)).toBe(false)
    const takes: VaultEventInput = {
      eventName: 'DepositSync',
      args: { sender: ALICE, owner: ALICE, assets: 1n, shares: 1n },
    }
    expect(after(takes, { assets: MAX_UINT256 - 1n, supply: 2n ** 200n })).toBe(true)
    expect(after(takes, { assets: MAX_UINT256, supply: 2n ** 200n })).toBe(false)
  })
})

function concerns(account: Address, { eventName, args }: VaultEvent): boolean {
  const indexed = eventName === 'Transfer' ? ['from', 'to'] : ['sender', 'owner', 'receiver', 'controller']
  return Object.entries(args).some(([name, value]) => indexed.includes(name) && value === account)
}

function movesPrice(event: VaultEvent): boolean {
  if (isShareTransfer(event)) return event.args.from === zeroAddress || event.args.to === zeroAddress
  return !['DepositRequest', 'RedeemRequest', 'RedeemRequestCanceled'].includes(event.eventName)
}

describe('Events', () => {
  const user = fc.constantFrom(ALICE, BOB, FEES)
  const amount = fc.bigInt({ min: 0n, max: 10n ** 24n })
  const call: fc.Arbitrary<VaultEventInput[]> = fc.oneof(
    fc.tuple(user, user, amount).map(([from, to, value]) => [transfer(from, to, value)]),
    fc
      .tuple(user, user, amount, amount)
      .map(([sender, owner, assets, shares]) => [
        transfer(VAULT, owner, shares),
        { eventName: 'Deposit' as const, args: { sender, owner, assets, shares } },
      ]),
    fc
      .tuple(user, amount, amount)
      .map(([owner, assets, shares]) => [mint(owner, shares), trade('Deposit', owner, assets, shares)]),
    fc
      .tuple(user, amount, amount, amount)
      .map(([owner, assets, shares, fee]) => [
        mint(FEES, fee),
        mint(owner, shares),
        { eventName: 'DepositSync' as const, args: { sender: owner, owner, assets, shares } },
      ]),
    fc
      .tuple(user, amount, amount, amount, fc.constantFrom('Withdraw' as const, 'WithdrawSync' as const))
      .map(([owner, assets, shares, fee, eventName]) => [
        transfer(owner, zeroAddress, shares),
        mint(FEES, fee),
        { eventName, args: { sender: owner, receiver: owner, owner, assets, shares } },
      ]),
    fc.tuple(user, amount, amount).map(([owner, assets, shares]) => [trade('Withdraw', owner, assets, shares)]),
    fc.tuple(amount, amount).map(([total, shares]) => [valued(total), mint(FEES, shares)]),
    fc
      .tuple(amount, amount)
      .map(([total, shares]) => [
        transfer(SILO, zeroAddress, shares),
        { eventName: 'SettleRedeem' as const, args: { totalAssets: total } },
      ]),
    fc
      .tuple(user, amount)
      .map(([controller, assets]) => [
        { eventName: 'DepositRequest' as const, args: { controller, owner: controller, requestId: 1n, assets } },
      ]),
    fc
      .tuple(user, amount, fc.constantFrom('RedeemRequest' as const, 'RedeemRequestCanceled' as const))
      .map(([controller, shares, eventName]) => [
        { eventName, args: { controller, owner: controller, requestId: 2n, shares } },
      ]),
  )
  const transaction = fc.array(call, { minLength: 1, maxLength: 4 }).map((calls) => calls.flat())

  test.each([LAGOON, SYNC])(
    'of a user and of the price give the same entries for the user as all events ($kind)',
    (vault) => {
      fc.assert(
        fc.property(fc.array(transaction, { maxLength: 8 }), user, (transactions, account) => {
          const events = chain(transactions)
          const part = events.filter((event) => concerns(account, event) || movesPrice(event))
          const all = post(vault, EMPTY_LEDGER, events)
          const folded = post(vault, EMPTY_LEDGER, part)
          const of = ({ entries }: typeof all) => entries.filter((entry) => entry.account === account)
          expect(of(folded)).toEqual(of(all))
          expect(folded.prices).toEqual(all.prices)
          expect(folded.ledger).toEqual(all.ledger)
        }),
      )
    },
  )

  test.each([LAGOON, SYNC])('give the same result in any number of batches ($kind)', (vault) => {
    fc.assert(
      fc.property(fc.array(transaction, { maxLength: 15 }), fc.nat(), (transactions, cut) => {
        const events = chain(transactions)
        const whole = post(vault, EMPTY_LEDGER, events)
        const block = BigInt(cut % (transactions.length + 1))
        const early = post(
          vault,
          EMPTY_LEDGER,
          events.filter(({ location }) => location.blockNumber <= block),
        )
        const late = post(
          vault,
          early.ledger,
          events.filter(({ location }) => location.blockNumber > block),
        )
        expect([...early.entries, ...late.entries]).toEqual(whole.entries)
        expect([...early.prices, ...late.prices]).toEqual(whole.prices)
        expect(late.ledger).toEqual(whole.ledger)
      }),
    )
  })

  test.each([LAGOON, SYNC])('take from one user exactly what they give to another ($kind)', (vault) => {
    fc.assert(
      fc.property(fc.array(transaction, { maxLength: 15 }), (transactions) => {
        const { entries } = post(vault, EMPTY_LEDGER, chain(transactions))
        for (const sent of entries) {
          if (sent.kind !== 'send') continue
          const { account, kind: _, ...rest } = sent
          const others = entries.filter(
            ({ kind, transactionHash, logIndex }) =>
              kind === 'receive' && transactionHash === sent.transactionHash && logIndex === sent.logIndex,
          )
          expect(others).toEqual([expect.objectContaining(rest)])
          expect(others[0]?.account).not.toBe(account)
        }
      }),
    )
  })
})
