import type { Address, Hex } from 'viem'
import { expect } from 'vitest'
import { amountWord, buildBalanceSlotTest } from '../../../lib/chain/balance-slots.ts'
import { buildCall } from '../../../lib/chain/call.ts'
import { erc20Abi } from '../../../lib/chain/erc20.ts'
import { boundedSimulationRequest, parseSimulatedBlocks, type StorageOverrides } from '../../../lib/chain/simulation.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { test } from '../../support/service.ts'

const ACCOUNT: Address = '0x5bA7C4De9c6D12e8A1bE9E2cF1a0D3b4c5D6e7F8'
const TOKEN: Address = '0x00000000000000000000000000000000000070cE'
const OPENZEPPELIN = '52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00'

const RETURN_WORD = '5f5260205ff3'
/**
 * Builds bytecode that returns an account's balance from a mapping, with the storage layout of Solidity. `push` is the
 * instruction that pushes the mapping's slot.
 */
const solidity = (push: string) => `6004355f52${push}60205260405f2054`
const vyper = (push: string) => `${push}5f5260043560205260405f2054`

test.for([
  ['a plain contract, as DAI and USDT', solidity('6002')],
  ['a proxy that keeps a flag in the highest bit, as USDC', `${solidity('6009')}5f1960011c16`],
  ["OpenZeppelin's upgradeable contract before 5.0", solidity('6033')],
  ["OpenZeppelin's upgradeable contract from 5.0 on", solidity(`7f${OPENZEPPELIN}`)],
  ['Vyper', vyper('6003')],
  ['Solady', '6387a211a2600c526004355f526020600c2054'],
] as const)("The slot of an account's balance is found in %s", async ([, program], { service }) => {
  const [chain] = service.backends.chains
  if (!chain) throw new Error('There is no chain.')
  await callRpc(chain, [{ method: 'anvil_setCode', params: [TOKEN, `0x${program}${RETURN_WORD}`] }])
  const balanceOf = buildCall(TOKEN, erc20Abi, 'balanceOf', [ACCOUNT])
  const readOn = async (storage: StorageOverrides) => {
    const blocks = [[{ to: balanceOf.to, data: balanceOf.data, value: 0n }]]
    const [result] = await callRpc(chain, [boundedSimulationRequest(ACCOUNT, blocks, { storage })])
    const [[read] = []] = parseSimulatedBlocks({ result }, [1], []) ?? []
    return read?.status === 'success' ? balanceOf.decode(read.returnData) : undefined
  }
  const { storage, slotOf } = buildBalanceSlotTest([TOKEN], ACCOUNT)
  const slot: Hex = slotOf(await readOn(storage)) ?? '0x'
  expect(await readOn({ [TOKEN]: { stateDiff: { [slot]: amountWord(12_345n) } } })).toBe(12_345n)
})

test.for([undefined, 0n, 1_000_000n, 2n ** 255n])('A balance of %s belongs to no probed slot', (balance) => {
  expect(buildBalanceSlotTest([TOKEN], ACCOUNT).slotOf(balance)).toBeUndefined()
})
