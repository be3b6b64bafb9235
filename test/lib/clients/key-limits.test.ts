import type { Address } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  findVisibleVault,
  type KeyLimits,
  listVisibleVaults,
  requireAllowedDeposit,
} from '../../../lib/clients/key-limits.ts'
import { someVault, UNRESTRICTED_LIMITS } from '../../support/clients.ts'

const [ONE, OTHER]: [Address, Address] = [
  '0x0000000000000000000000000000000000000C01',
  '0x0000000000000000000000000000000000000C02',
]
const ARBITRUM = 42161

/** Vaults for an API key's list of allowed vaults. Two have the same address on different chains. */
const VAULTS = [
  someVault({ chainId: 8453, address: ONE }),
  someVault({ chainId: ARBITRUM, address: ONE }),
  someVault({ chainId: 8453, address: OTHER }),
]
const limited = (limits: Partial<KeyLimits>): KeyLimits => ({ ...UNRESTRICTED_LIMITS, ...limits })

test.for<[key: string, limits: Partial<KeyLimits>, visible: readonly number[]]>([
  ['without limits sees all vaults of its client', {}, [0, 1, 2]],
  ['for a chain sees the vaults on it', { chains: [8453] }, [0, 2]],
  ['for a vault does not see one with the same address elsewhere', { vaults: [{ chainId: 8453, address: ONE }] }, [0]],
  ['for a chain and a vault elsewhere sees none', { chains: [1], vaults: [{ chainId: 8453, address: ONE }] }, []],
])('A key %s', ([, limits, visible]) => {
  const caller = { client: { vaults: VAULTS }, limits: limited(limits) }
  expect(listVisibleVaults(caller)).toEqual(visible.map((index) => VAULTS[index]))
  for (const [index, vault] of VAULTS.entries()) {
    const find = () => findVisibleVault(caller, vault.address, vault.chainId)
    if (visible.includes(index)) expect(find()).toBe(vault)
    else expect(find).toThrow(expect.objectContaining({ code: expect.stringMatching(/^(chain|vault)_not_allowed$/) }))
  }
})

describe('A deposit', () => {
  const limits = limited({
    chains: [8453, ARBITRUM],
    largestDeposits: [
      { chainId: 8453, asset: ONE, amount: 100n },
      { chainId: ARBITRUM, asset: OTHER, amount: 10n },
    ],
  })

  test.for<[what: string, deposit: Parameters<typeof requireAllowedDeposit>[1]]>([
    ['of the largest amount', { chainId: 8453, asset: ONE, amount: 100n }],
    ['of the largest amount of another asset', { chainId: ARBITRUM, asset: OTHER, amount: 10n }],
  ])('%s is allowed', ([, deposit]) => {
    expect(() => requireAllowedDeposit(limits, deposit)).not.toThrow()
  })

  test.for<[what: string, deposit: Parameters<typeof requireAllowedDeposit>[1], code: string]>([
    ['of one unit more', { chainId: 8453, asset: ONE, amount: 101n }, 'deposit_limit_exceeded'],
    ['of an asset listed on another chain', { chainId: 8453, asset: OTHER, amount: 1n }, 'deposit_limit_exceeded'],
    ['from a chain that is not listed', { chainId: 1, asset: ONE, amount: 1n }, 'chain_not_allowed'],
  ])('%s is refused', ([, deposit, code]) => {
    expect(() => requireAllowedDeposit(limits, deposit)).toThrow(expect.objectContaining({ code }))
  })

  test('of any amount is allowed for a key without largest deposits, only from its chains', () => {
    const deposit = { chainId: 1, asset: ONE, amount: 2n ** 255n }
    expect(() => requireAllowedDeposit(limited({ chains: [1] }), deposit)).not.toThrow()
    expect(() => requireAllowedDeposit(limited({ chains: [8453] }), deposit)).toThrow(
      expect.objectContaining({ code: 'chain_not_allowed' }),
    )
  })
})
