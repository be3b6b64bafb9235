import type { Address } from 'viem'
import { expect } from 'vitest'
import { evmChain } from '../../lib/chain/registry.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { type createUserViews, runRefreshChain } from './records.ts'
import type { HttpReply, Service } from './service.ts'
import type { EmptyBlocks } from './silence.ts'

/** Model of a vault, written from the vault's documentation. It predicts the service's responses about an account. */
export type VaultModel = {
  readonly vault: { readonly address: Address }
  /** Returns true if anything of value entered or left the account. */
  isUsed(account: Address): boolean
  position(account: Address): object
  /** Returns the predicted deposits, newest first. */
  history(account: Address): readonly object[]
  /** Returns the predicted withdrawals, newest first. */
  withdrawals(account: Address): readonly object[]
}

/** Asserts that the service returns positions, deposits and withdrawals of these accounts as the models predict. */
export async function expectModelledResponses(
  views: ReturnType<typeof createUserViews>,
  models: readonly VaultModel[],
  accounts: readonly Address[],
): Promise<void> {
  for (const account of accounts) {
    const [positions, deposits, withdrawals] = await Promise.all([
      views.positions(account),
      views.deposits(account, '?limit=100'),
      views.withdrawals(account, '?limit=100'),
    ])
    for (const model of models) {
      const inVault = (listed: HttpReply['body'][]) =>
        listed.filter(({ vaultAddress }) => vaultAddress === model.vault.address)
      expect(inVault(withdrawals.body.withdrawals)).toMatchObject(model.withdrawals(account))
      const [shown, entries] = [inVault(positions.body.positions), inVault(deposits.body.deposits)]
      if (!model.isUsed(account)) expect([shown, entries]).toEqual([[], []])
      else {
        expect(shown).toMatchObject([model.position(account)])
        expect(entries).toMatchObject(model.history(account))
      }
    }
  }
}

/**
 * Adds empty blocks to Base until all earlier blocks are final, and runs the job refresh-chain. Then advances the
 * clock, so that the containers read the job's new progress instead of their cached copy.
 */
export async function recordAfterEmptyBlocks(
  service: Pick<Service, 'pass'>,
  chain: { readonly rpcUrl: string },
  silence: EmptyBlocks,
): Promise<void> {
  const [head] = await callRpc(chain, [{ method: 'eth_blockNumber', params: [] }])
  silence.add(Number(head), 300)
  const { seconds } = evmChain(8453)?.finality ?? { seconds: 0 }
  await callRpc(chain, [{ method: 'evm_increaseTime', params: [seconds + 1] }])
  await callRpc(chain, [{ method: 'anvil_mine', params: ['0x1'] }])
  await runRefreshChain(8453)
  service.pass(31)
}
