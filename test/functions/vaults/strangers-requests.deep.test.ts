import { decodeFunctionData, type Hex } from 'viem'
import { describe, expect } from 'vitest'
import { ASYNC_VAULT_ABI } from '../../sandbox/async-vault-abi.ts'
import { createDepositJourney, test } from '../../support/cross-chain.ts'
import { type HttpReply, type Service, USERS } from '../../support/service.ts'
import { expectSuccess, openAsyncVault, ROLES } from '../../support/vaults.ts'

const [{ address: alice }, { address: bob }] = USERS
const [ALICE] = USERS
const ONE = 10n ** 6n

async function openCounted(service: Service) {
  const vault = await openAsyncVault(service, { make: 'counted' })
  for (const user of [alice, bob]) {
    await vault.mint(user, 1_000n * ONE)
    await vault.approve(user, 1_000n * ONE)
  }
  await vault.act(alice, 'requestDeposit', 100n * ONE, alice, alice)
  await vault.act(ROLES.safe, 'fulfillDeposit', 1n, alice, 100n * ONE, 100n * ONE)
  await vault.act(alice, 'mint', 100n * ONE, alice, alice)
  await vault.actOnShare(alice, 'transfer', bob, 1_000n)
  return vault
}

const callIn = ({ body }: HttpReply) => {
  const [{ data }] = body.operations as [{ data: Hex }]
  const { functionName, args } = decodeFunctionData({ abi: ASYNC_VAULT_ABI, data })
  return [functionName, args?.[0]]
}

describe('third-party requests for the user', () => {
  test('are cancelled after the user’s own', async ({ service }) => {
    const vault = await openCounted(service)
    await vault.act(alice, 'requestRedeem', 50n * ONE, alice, alice)
    for (let more = 0; more < 3; more += 1) await vault.act(bob, 'requestRedeem', 1n, alice, bob)
    expect(callIn(await vault.cancel(ALICE, 'withdrawal'))).toEqual(['cancelRedeemRequest', 2n])
  })

  test('do not hide a deposit from the bridge when they are settled', async ({ service, bridge: _ }) => {
    const vault = await openCounted(service)
    for (let id = 2n; id < 52n; id += 1n) {
      await vault.act(bob, 'requestDeposit', 5n * ONE, alice, bob)
      await vault.act(ROLES.safe, 'fulfillDeposit', id, alice, 5n * ONE, 5n * ONE)
    }
    await vault.act(alice, 'mint', 250n * ONE, alice, alice)
    // The cast is safe, because `createDepositJourney` uses only properties that all kinds of vaults have.
    const journey = createDepositJourney(vault as never, service)
    await journey.mint(alice, 4n * ONE)
    const receipts = await journey.send(ALICE, await journey.ask(ALICE, 4n * ONE))
    expectSuccess(receipts)
    await journey.fill(receipts)
    expect(await vault.read('pendingDepositRequest', 52n, alice)).toBeGreaterThan(0n)
    const { body } = await vault.status(ALICE)
    expect([body.status, body.amounts.pendingDeposit]).toEqual([
      'pending',
      `${await vault.read('pendingDepositRequest', 52n, alice)}`,
    ])
  })
})
