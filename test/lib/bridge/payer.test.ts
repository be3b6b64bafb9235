import { type Hex, numberToHex, pad } from 'viem'
import { expect, test } from 'vitest'
import { findPayer } from '../../../lib/bridge/payer.ts'
import type { LedgerEntry } from '../../../lib/protocols/ledger-entry.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { place } from '../../support/ledger-entries.ts'

const [FIRST, SECOND] = ['0xa1', '0xa2'].map((byte) => pad(byte as Hex, { size: 20 })) as [Hex, Hex]
const NOW = new Date('2027-01-01T00:00:00.000Z')
const SENT = { transactionHash: numberToHex(7, { size: 32 }), blockNumber: 50n, initiated: NOW, inputAmount: 100n }

/** A payment of a vault to the account, or a claim of shares; `ago` is in milliseconds. */
type Entry = {
  readonly vault?: Hex
  readonly assets?: bigint
  readonly block?: number
  readonly ago?: number
  readonly isSameTransaction?: boolean
  readonly kind?: 'withdraw' | 'claim'
}

function entryOf({ vault = FIRST, assets = 100n, block = 40, ago = 1000, kind = 'withdraw', ...more }: Entry) {
  const hash = more.isSameTransaction ? SENT.transactionHash : numberToHex(block, { size: 32 })
  const where = { vault, blockNumber: block, timestamp: new Date(NOW.getTime() - ago), transactionHash: hash }
  const what = { assets, shares: 1n }
  return { ...place(0), ...where, ...what, ...(kind === 'claim' ? { kind } : { kind, isClaim: false }) }
}

test.for<[what: string, entries: readonly Entry[], payer: Hex | undefined]>([
  ['the vault that paid it', [{}], FIRST],
  ['the vault that paid it last', [{ block: 41, vault: SECOND }, { block: 40 }], SECOND],
  [
    'the vault that paid in the same transaction, whichever paid after',
    [
      { block: 50, isSameTransaction: true },
      { block: 50, vault: SECOND },
    ],
    FIRST,
  ],
  ['the vault that paid more', [{ assets: 101n }], FIRST],
  ['the vault that paid it in parts', [{ assets: 60n }, { assets: 40n, block: 41 }], FIRST],
  ['the vault that paid it a day before', [{ ago: DAY_MS }], FIRST],
  ['no vault that paid it earlier than that', [{ ago: DAY_MS + 1 }], undefined],
  ['no vault that paid it in a later block', [{ block: 51 }], undefined],
  ['no vault that paid less than is sent', [{ assets: 99n }], undefined],
  ['no vault that paid it with another', [{ assets: 60n }, { assets: 40n, block: 41, vault: SECOND }], undefined],
  ['no vault that gave shares', [{ kind: 'claim' }], undefined],
  ['no vault where none paid', [], undefined],
])('What an account sends was paid by %s', ([, entries, payer]) => {
  expect(
    findPayer(
      entries.map((entry): LedgerEntry => entryOf(entry)),
      SENT,
    ),
  ).toBe(payer)
})
