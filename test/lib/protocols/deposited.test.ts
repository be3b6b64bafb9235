import fc from 'fast-check'
import { type Address, zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { namesReceiverFirst } from '../../../lib/protocols/erc4626/deposited.ts'

const ACCOUNTS: readonly Address[] = [
  '0x0000000000000000000000000000000000000C01',
  '0x0000000000000000000000000000000000000C02',
  '0x0000000000000000000000000000000000000C03',
]
const ESCROW: Address = '0x00000000000000000000000000000000000000E5'
const account = fc.constantFrom(...ACCOUNTS)
const deposits = fc
  .uniqueArray(fc.record({ payer: account, receiver: account, shares: fc.bigInt({ min: 1n, max: 9n }) }), {
    selector: ({ shares }) => shares,
    minLength: 1,
  })
  .filter((all) => all.some(({ payer, receiver }) => payer !== receiver))

test('Transfers in a transaction show which account its deposits name first, also for one account’s events', () => {
  fc.assert(
    fc.property(deposits, fc.constantFrom(zeroAddress, ESCROW), (all, from) => {
      const transfers = all.map(({ receiver, shares }) => ({ from, to: receiver, shares }))
      const orders = [
        {
          isReceiverFirst: false,
          events: all.map(({ payer, receiver, shares }) => ({ sender: payer, owner: receiver, shares })),
        },
        {
          isReceiverFirst: true,
          events: all.map(({ payer, receiver, shares }) => ({ sender: receiver, owner: payer, shares })),
        },
      ]
      for (const { isReceiverFirst, events } of orders) {
        expect(namesReceiverFirst(events, transfers)).toBe(isReceiverFirst)
        for (const one of ACCOUNTS) {
          const own = events.filter(({ sender, owner }) => sender === one || owner === one)
          if (own.every(({ sender, owner }) => sender === owner)) continue
          const received = transfers.filter(({ to }) => to === one)
          expect(namesReceiverFirst(own, received, one)).toBe(isReceiverFirst)
        }
      }
    }),
  )
})

test('Shares that move on to the payer, or are deposited for itself, show nothing', () => {
  const [alice, bob] = ACCOUNTS as [Address, Address]
  const mint = (to: Address) => ({ from: zeroAddress, to, shares: 5n })
  const event = { sender: alice, owner: bob, shares: 5n }
  expect(namesReceiverFirst([event], [mint(alice), { from: alice, to: bob, shares: 5n }])).toBe(true)
  expect(namesReceiverFirst([{ ...event, sender: bob }, event], [mint(bob), mint(alice)])).toBe(true)
  expect(namesReceiverFirst([event], [mint(bob), { from: bob, to: alice, shares: 5n }])).toBe(false)
})

test('Without a transfer of a deposit’s shares, the standard order holds', () => {
  const [alice, bob] = ACCOUNTS as [Address, Address]
  const event = { sender: alice, owner: bob, shares: 5n }
  const afterFee = { from: zeroAddress, to: bob, shares: 4n }
  expect(namesReceiverFirst([event], [])).toBe(false)
  expect(namesReceiverFirst([event], [afterFee])).toBe(false)
  expect(namesReceiverFirst([event], [afterFee], bob)).toBe(false)
  expect(namesReceiverFirst([event], [], alice)).toBe(false)
})
