import fc from 'fast-check'
import { numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { lagoon } from '../../../../lib/protocols/lagoon/protocol.ts'
import { buildTerms, VaultTerms } from '../../../../lib/protocols/terms.ts'
import { runReadPlan } from '../../../support/contracts-in-memory.ts'
import { LAGOON_VAULT, lagoonContracts } from '../../../support/lagoon-in-memory.ts'

/** Storage slot of the time of the last fee. It is the third word of the namespace `hopper.storage.FeeManager`. */
const LAST_FEE_TIME = numberToHex(0xa5292f7ccd85acc1b3080c01f5da9af7799f2c26826bd4d79081d6511780bd02n, { size: 32 })
const word = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const rate = fc.integer({ min: 0, max: 65_535 })

test('A vault with any state has terms that can be encoded, without negative amounts', () => {
  const facts = fc.record({
    version: fc.constantFrom('v0.4.0', 'v0.5.0', 'v0.6.0', 'v0.7.0'),
    rates: fc.record({ entry: rate, exit: rate, haircut: rate }),
    isTotalAssetsValid: fc.boolean(),
    ...{ totalAssets: word, totalSupply: word, maxCap: word, expiration: word },
    ...{ pendingDeposits: word, safeBalance: word, safeAllowance: word },
  })
  fc.assert(
    fc.property(facts, word, (vaultFacts, lastFeeTime) => {
      const { words, ...contracts } = lagoonContracts(vaultFacts)
      const { terms } = runReadPlan(lagoon.overview(LAGOON_VAULT), {
        ...contracts,
        words: { ...words, [LAST_FEE_TIME]: lastFeeTime },
      })
      const shown = VaultTerms.encode(buildTerms(terms, { roundTrip: undefined, settlement: null }))
      expect(VaultTerms.safeDecode(shown).success).toBe(true)
      for (const amount of [shown.room, shown.liquidity]) expect(amount ?? '0').not.toContain('-')
    }),
  )
})
