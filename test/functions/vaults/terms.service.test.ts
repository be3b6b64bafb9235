import { describe, expect } from 'vitest'
import type { LagoonGeneration } from '../../../sandbox/deploy.ts'
import { recordAllBlocks } from '../../support/records.ts'
import { test, USERS } from '../../support/service.ts'
import { openAsyncVault, openLagoonVault, openYieldVault, ROLES, type TestVault } from '../../support/vaults.ts'

const [ALICE] = USERS
const RATES = { managementRate: 200, performanceRate: 2_000, entryRate: 37, exitRate: 50, haircutRate: 125 }
const UNKNOWN_FEES = { management: null, performance: null, entry: null, exit: null, haircut: null }
const UNKNOWN = { settlement: null, valuation: null, cooldownSeconds: null }

type Listed = Pick<TestVault, 'list'>

async function termsOf({ list }: Listed) {
  return (await list()).body.data[0].terms
}

test("A prepared deposit has its vault's terms from the list", async ({ service }) => {
  for (const vault of [
    await openLagoonVault(service, { generation: '0.6', ...RATES }),
    await openYieldVault(service, { make: 'cooldown' }),
    await openYieldVault(service),
    await openAsyncVault(service, { make: 'redemptions' }),
  ]) {
    const { body } = await vault.deposit(ALICE, vault.units('1'))
    expect(body.terms).toEqual(await termsOf(vault))
  }
})

/** Returns the time of the chain's latest block, in milliseconds since 1970. */
async function lastBlock({ list }: Listed): Promise<number> {
  return Date.parse((await list()).body.data[0].stateAsOf.timestamp)
}

describe('The terms of', () => {
  test.for<LagoonGeneration>(['0.1', '0.2', '0.4', '0.5', '0.5.1', '0.6'])(
    'a Lagoon %s vault are by request, with its fees and the time of its valuation',
    async (generation, { service }) => {
      const vault = await openLagoonVault(service, { generation, ...RATES })
      await vault.request(ALICE.address, vault.units('100'))
      await vault.settle()
      const at = new Date(await lastBlock(vault)).toISOString()
      const own = generation === '0.6' ? ['0.37', '0.50', '1.25'] : ['0.00', '0.00', '0.00']
      const [entry, exit, haircut] = own
      expect(await termsOf(vault)).toEqual({
        ...{ entry: 'request', exit: 'request', room: null, liquidity: '0', settlement: null, cooldownSeconds: null },
        fees: { management: '2.00', performance: '20.00', entry, exit, haircut },
        valuation: { at, validUntil: null },
        missing: [],
      })
    },
  )

  test('a Lagoon 0.6 vault change with its valuation, its cap, its safe and its closing', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.6' })
    await vault.request(ALICE.address, vault.units('100'))
    await vault.settleForADay()
    const validUntil = new Date((await lastBlock(vault)) + 86_400_000).toISOString()
    await vault.act(ROLES.safe, 'updateMaxCap', vault.units('150'))
    expect(await termsOf(vault)).toMatchObject({
      ...{ entry: 'instant', exit: 'instant', room: `${vault.units('50')}`, liquidity: `${vault.units('100')}` },
      valuation: { validUntil },
    })

    await vault.act(ROLES.safe, 'setSyncMode', 1)
    expect(await termsOf(vault)).toMatchObject({ entry: 'instant', exit: 'request', liquidity: '0' })

    await vault.act(ROLES.admin, 'pause')
    expect(await termsOf(vault)).toMatchObject({ room: '0', liquidity: '0' })
    await vault.act(ROLES.admin, 'unpause')

    await vault.act(ROLES.safe, 'expireTotalAssets')
    await vault.act(ROLES.admin, 'initiateClosing')
    await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', vault.units('100'))
    await vault.act(ROLES.safe, 'close', vault.units('100'))
    expect(await termsOf(vault)).toMatchObject({ exit: 'instant', room: '0', liquidity: null, missing: [] })
  })

  test('a synchronous vault are instant, with its liquidity reported as missing', async ({ service }) => {
    const vault = await openYieldVault(service)
    const terms = { entry: 'instant', exit: 'instant', room: null, liquidity: null, ...UNKNOWN, missing: ['liquidity'] }
    expect(await termsOf(vault)).toEqual({ ...terms, fees: UNKNOWN_FEES })
  })

  test.for([
    ['aggregated', { entry: 'request', exit: 'request', room: null, liquidity: '0', missing: ['room'] }],
    ['redemptions', { entry: 'instant', exit: 'request', room: null, liquidity: '0', missing: [] }],
  ] as const)('an ERC-7540 vault of the make %s show which side is by request', async ([make, terms], { service }) => {
    const vault = await openAsyncVault(service, { make })
    expect(await termsOf(vault)).toEqual({ ...terms, ...UNKNOWN, fees: UNKNOWN_FEES })
  })

  test('a vault have the duration of its settlements after the first five', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    for (let round = 0; round < 5; round += 1) {
      await vault.request(ALICE.address, vault.units('1'))
      await vault.settle()
    }
    await recordAllBlocks(vault.chain)
    const { settlement } = await termsOf(vault)
    expect(settlement).toMatchObject({ samples: 5, medianSeconds: expect.any(Number), p90Seconds: expect.any(Number) })
  })

  test('a vault on an unreadable chain are those of its kind, and name the missing values', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const wire = service.rpc[vault.chain.chainId]
    if (wire) wire.behaviour = 'answer 500'
    expect(await termsOf(vault)).toEqual({
      ...{ entry: 'request', exit: 'request', room: null, liquidity: null, ...UNKNOWN },
      fees: UNKNOWN_FEES,
      missing: ['room', 'liquidity', 'valuation'],
    })
  })
})
