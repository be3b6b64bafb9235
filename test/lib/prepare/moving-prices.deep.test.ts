import { type Address, type Hex, keccak256, numberToHex, pad } from 'viem'
import { expect } from 'vitest'
import { createAgreementOf } from '../../../lib/chain/agree.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { createChainReader } from '../../../lib/chain/reader.ts'
import { type EvmChain, evmChain } from '../../../lib/chain/registry.ts'
import type { Rpc, RpcRequest } from '../../../lib/chain/rpc.ts'
import { prepareDeposit } from '../../../lib/prepare/deposit.ts'
import { agreeOnReply, toReply } from '../../../lib/prepare/reply.ts'
import { prepareWithdrawal } from '../../../lib/prepare/withdraw.ts'
import { describeVault } from '../../../lib/protocols/describe.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { RPC_PRICES } from '../../../scripts/cost/prices.ts'
import { test, USERS } from '../../support/service.ts'
import { openYieldVault } from '../../support/vaults.ts'

const [ALICE] = USERS
const BASE = evmChain(8453) as EvmChain
const UNITS: Readonly<Record<string, number>> = RPC_PRICES.units

test('Two hosts five seconds apart mostly agree on a deposit in one round trip, despite moving prices', async ({
  service,
}) => {
  const savings = await openYieldVault(service)
  const { chain, units } = savings
  await savings.mint(ALICE.address, units('200'))
  await savings.approve(ALICE.address, units('200'))
  await savings.act(ALICE.address, 'deposit', units('100'), ALICE.address)
  const node = createRpc([chain.rpcUrl], { fetch, random: () => 0, now: () => performance.now() })
  const described = await describeVault({ reader: createChainReader(BASE, node), archive: node }, savings.address)
  const shown = { poolId: 'p', description: '', logoUrl: '', riskProfile: '', riskProtocol: '', addedAt: new Date(0) }
  const vault = { ...described, ...shown, firstBlock: 0 } as Vault

  // Storage slot of the vault's balance in the token contract. The contract's mapping of balances has slot 0.
  const slot = keccak256(pad(savings.address as Address).concat('0'.repeat(64)) as Hex)
  const usage = { calls: 0, units: 0, trips: [0, 0] }
  let [balance, head, blocks] = [units('100'), 0, 0]
  const [latest] = await callRpc(chain, [{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
  const begun = Number((latest as { timestamp: Hex }).timestamp)
  // Five blocks have one time, however slow the machine is.
  const mine = async () => {
    balance += 1_000n
    blocks += 1
    await callRpc(chain, [
      { method: 'anvil_setStorageAt', params: [vault.asset, slot, numberToHex(balance, { size: 32 })] },
      { method: 'evm_setNextBlockTimestamp', params: [begun + 1 + Math.floor(blocks / 5)] },
      { method: 'evm_mine', params: [] },
    ])
  }
  for (let block = 0; block < 40; block += 1) await mine()
  const hostOf =
    (place: number, lag: () => number): Rpc =>
    async (requests) => {
      usage.trips[place] = (usage.trips[place] ?? 0) + 1
      usage.calls += requests.length
      usage.units += requests.reduce((sum, { method }) => sum + (UNITS[method] ?? 0), 0)
      const latest = numberToHex(head - lag())
      const at = ({ method, params }: RpcRequest) => ({
        method,
        params: params.map((param) => (param === 'latest' ? latest : param)),
      })
      return node(requests.map(at))
    }
  let lag = 0
  const rpcs = [hostOf(0, () => 0), hostOf(1, () => lag)]
  const agree = createAgreementOf(() => ({ chain: BASE, rpcs }))

  const trips: number[] = []
  for (let round = 0; round < 26; round += 1) {
    await mine()
    head = Number((await callRpc(chain, [{ method: 'eth_blockNumber', params: [] }]))[0])
    lag = round
    Object.assign(usage, { calls: 0, units: 0, trips: [0, 0] })
    const account = ALICE.address
    const reply = await agree(
      [8453],
      async (getReader) => {
        const order = { vault, pin: undefined, account, amount: units('10') }
        return toReply(vault, account, await prepareDeposit(getReader(8453), order))
      },
      agreeOnReply,
    )
    expect(reply.operations).toHaveLength(1)
    expect(usage.calls).toBeLessThanOrEqual(12)
    expect(usage.units).toBeLessThanOrEqual(400)
    trips.push(Math.max(...usage.trips))

    const withdrawal = await agree(
      [8453],
      async (getReader) => {
        const bridge = { integratorId: undefined, fetchQuote: () => Promise.reject(new Error('not asked')) }
        const order = { vault, account, amount: { assets: units('20') }, destination: undefined }
        const prepared = await prepareWithdrawal({ getReader, ...bridge }, order)
        return { ...toReply(vault, account, prepared), withdrawal: prepared.withdrawal }
      },
      agreeOnReply,
    )
    // Hosts at different blocks see different prices. The reply then has the larger number of shares, as an estimate.
    expect(withdrawal.withdrawal.isEstimate).toBe(lag > 1)
  }
  expect(trips.filter((count) => count === 1).length).toBeGreaterThanOrEqual((trips.length * 9) / 10)
})
