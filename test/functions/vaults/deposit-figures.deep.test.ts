import { describe, expect } from 'vitest'
import type { AsyncVaultKind, LagoonGeneration, YieldVaultKind } from '../../../sandbox/deploy.ts'
import { type HttpReply, type Service, test, USERS } from '../../support/service.ts'
import { expectSuccess, openAsyncVault, openLagoonVault, openYieldVault, type TestVault } from '../../support/vaults.ts'

const [ALICE, BOB] = USERS
const ROUNDS = 6

type Kind = { readonly name: string; readonly open: (service: Service) => Promise<TestVault> }

const yieldVault = (make: YieldVaultKind): Kind => ({
  name: `an ERC-4626 vault (${make})`,
  open: (service) => openYieldVault(service, { make }),
})
const RATES = { entryRate: 37, exitRate: 50, managementRate: 200 }
const lagoon = (generation: LagoonGeneration, isInSyncMode: boolean): Kind => ({
  name: `Lagoon ${generation}${isInSyncMode ? ' in sync mode' : ''}`,
  async open(service) {
    const vault = await openLagoonVault(service, { generation, ...RATES })
    await vault.request(BOB.address, vault.units('1000.000007'))
    await (isInSyncMode ? vault.settleForADay(vault.units('3.141593')) : vault.settle(vault.units('3.141593')))
    return vault
  },
})
const asyncVault = (make: AsyncVaultKind): Kind => ({
  name: `an ERC-7540 vault (${make})`,
  open: async (service) => (await openAsyncVault(service, { make })) as unknown as TestVault,
})

/** Yields pseudo-random numbers from 0 to below 1. The fixed seed makes them the same in every run. */
function* numbers(): Generator<number, never> {
  for (let seed = 20_261_127; ; ) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    yield seed / 2 ** 32
  }
}
const random = numbers()

/** Returns a random amount of 0.01 to 10,000 tokens with 6 decimals, in the smallest unit. */
const anyAmount = () => BigInt(Math.floor(10 ** (4 + 6 * random.next().value)))

async function deposit(vault: TestVault, amount: bigint): Promise<HttpReply> {
  const reply = await vault.deposit(ALICE, amount)
  expect(reply).toMatchObject({ status: 200, body: { deposit: { assets: `${amount}` } } })
  expectSuccess(await vault.send(ALICE, reply))
  return reply
}

const sharesOf = async (vault: TestVault) => BigInt((await vault.status(ALICE)).body.amounts?.currentShares ?? 0)

describe('The shares in the response to a deposit', () => {
  test.for([
    ...(['plain', 'illiquid', 'cooldown', 'exitFee', 'entryFee', 'strict', 'silent', 'dailyLimit'] as const).map(
      yieldVault,
    ),
    ...(['0.5', '0.5.1', '0.6'] as const).map((generation) => lagoon(generation, true)),
  ])('arrive to the unit in $name', async ({ open }, { service }) => {
    const vault = await open(service)
    for (let round = 0; round < ROUNDS; round += 1) {
      // Assets minted to the vault make a share price that is not round.
      if (round > 0) await vault.mint(vault.address, anyAmount() / 100n)
      const before = await vault.read('balanceOf', ALICE.address)
      const { body } = await deposit(vault, anyAmount())
      const arrived = (await vault.read('balanceOf', ALICE.address)) - before
      expect(body.deposit).toMatchObject({ shares: `${arrived}`, isEstimate: false })
    }
  })

  test.for([
    ...(['0.1', '0.4', '0.5', '0.6'] as const).map((generation) => lagoon(generation, false)),
    asyncVault('aggregated'),
  ])('are within one percent of the claimed shares in $name', async ({ open }, { service }) => {
    const vault = await open(service)
    for (let round = 0; round < ROUNDS; round += 1) {
      const { body } = await deposit(vault, anyAmount())
      // The vault gains up to 0.5 % until the settlement. The estimate cannot include that gain.
      await vault.settle(((await vault.read('totalAssets')) * BigInt(Math.floor(50 * random.next().value))) / 10_000n)
      const before = await sharesOf(vault)
      expectSuccess(await vault.send(ALICE, await vault.claim(ALICE)))
      const claimed = Number((await sharesOf(vault)) - before)
      expect(body.deposit).toMatchObject({ isEstimate: true })
      expect(Math.abs(Number(body.deposit.shares) / claimed - 1)).toBeLessThan(0.01)
    }
  })
})
