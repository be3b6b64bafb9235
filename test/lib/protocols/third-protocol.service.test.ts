import { encodeFunctionData, erc20Abi } from 'viem'
import { expect, vi } from 'vitest'
import * as z from 'zod'
import { transact } from '../../../sandbox/transactions.ts'
import { BondVault, bond, bondAbi, bondOperations, deployBond } from '../../support/bond.ts'
import { createUserViews, recordAllBlocks, recordsOf } from '../../support/records.ts'
import { test, USERS } from '../../support/service.ts'
import { expectSuccess } from '../../support/vaults.ts'

// The mocks add the invented protocol `bond` to the product's lists of protocols. Everything else stays unchanged.
vi.mock(import('../../../lib/protocols/vault-on-chain.ts'), async (original) => {
  const { VaultOnChain, ...lists } = await original()
  const extended = z.discriminatedUnion('protocol', [...VaultOnChain.options, BondVault])
  // The casts are needed, because the module's types do not have the added protocol.
  return { ...lists, VaultOnChain: extended as never, PROTOCOL_NAMES: [...lists.PROTOCOL_NAMES, 'bond' as never] }
})
vi.mock(import('../../../lib/protocols/protocols.ts'), async (original) => {
  const { PROTOCOLS, getProtocol } = await original()
  // The cast is needed, because the module's types do not have the added protocol.
  const of: typeof getProtocol = (vault) => (String(vault.protocol) === 'bond' ? (bond as never) : getProtocol(vault))
  return { PROTOCOLS: { bond, ...PROTOCOLS }, getProtocol: of }
})
vi.mock(import('../../../lib/protocols/operations.ts'), async (original) => {
  const operations = await original()
  Object.assign(operations.OPERATIONS, { bond: bondOperations })
  return operations
})

const [ALICE, BOB] = USERS
const PRICE = 5n

test('A protocol that is only in the lists of protocols works from registration to history', async ({ service }) => {
  const [chain] = service.backends.chains
  const asset = chain?.tokens.find(({ symbol }) => symbol === 'USDC')?.address
  if (!chain || !asset) throw new Error('There is no USDC')
  const address = await deployBond(chain, asset, PRICE)
  const key = await service.createClient([{ chainId: chain.chainId, address }])
  const deposit = (amount: bigint) =>
    service.call('POST', '/defi-vaults/v1/defi/vault/deposit', {
      key,
      body: { vaultAddress: address, amount: String(amount), userAddress: ALICE.address },
    })
  const views = createUserViews(service, key)

  const { body: list } = await service.call('GET', '/defi-vaults/v1/vaults', { key })
  expect(list.data).toMatchObject([{ poolAddress: address, protocol: 'bond', type: 'sync', totalAssets: '0' }])

  // The reason is decoded with the errors of the added protocol.
  expect((await deposit(PRICE - 1n)).body.simulation).toEqual({ status: 'reverted', reason: 'LessThanOneBond' })
  const reply = await deposit(1_000n * PRICE)
  expect(reply.body).toMatchObject({
    protocol: 'bond',
    isAsync: false,
    simulation: { status: 'success' },
    operations: [
      {
        to: address,
        data: encodeFunctionData({ abi: bondAbi, functionName: 'buy', args: [1_000n * PRICE, ALICE.address] }),
      },
    ],
  })
  expectSuccess(await service.send(chain.chainId, ALICE, [...reply.body.approval, ...reply.body.operations]))
  const giftCalldata = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [BOB.address, 400n] })
  await transact(chain, [{ label: 'gift', from: ALICE.address, to: address, data: giftCalldata }])

  const show = async () => ({
    alice: (await views.positions(ALICE.address)).body.positions,
    bob: (await views.positions(BOB.address)).body.positions,
    deposits: (await views.deposits(ALICE.address)).body.deposits,
  })
  // The response must be the same before and after the job records the vault's events.
  const live = await show()
  expect(live).toMatchObject({
    alice: [{ totalDepositedAssets: '5000', totalWithdrawnAssets: '2000', currentShares: '600', currentValue: '3000' }],
    bob: [{ totalDepositedAssets: '2000', currentShares: '400', earnedAssets: '0', depositCount: 0 }],
    deposits: [{ status: 'completed', amounts: { depositedAssets: '5000', currentShares: '600' } }],
  })
  await recordAllBlocks(chain)
  expect(await show()).toEqual(live)
  const [recorded] = await recordsOf(service).getProgress([{ chainId: chain.chainId, address }])
  expect(recorded?.through).toBeGreaterThan(0)
})
