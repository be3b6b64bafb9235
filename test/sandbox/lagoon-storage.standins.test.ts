import {
  type Address,
  concat,
  decodeAbiParameters,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  type Hex,
  hexToBigInt,
  keccak256,
  maxUint256,
  numberToHex,
  pad,
  parseAbi,
  slice,
  stringToHex,
} from 'viem'
import { call, getBlock, getStorageAt } from 'viem/actions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MULTICALL3 } from '../../sandbox/chains.ts'
import { ADMIN, ALICE, BOB, FEE_RECEIVER, SAFE, startTokenChain, usdc, VALUER } from './harness.ts'

const LEDGER = 0x5c74d456014b1c0eb4368d944667a568313858a3029a650ff0cb7b56f8b57a00n
const ROLES = 0x7c302ed2c673c3d6b4551cf74a01ee649f887e14fd20d13dbca1b6099534d900n
const STATE = 0x0e6b3200a60a991c539f47dddaca04a18eb4bcf2b53906fb44751d827f001400n
const WHITELIST = 0x083cc98ab296d1a1f01854b5f7a2f47df4425a56ba7b35f7faa3a336067e4800n
const FEES = 0xa5292f7ccd85acc1b3080c01f5da9af7799f2c26826bd4d79081d6511780bd00n

let session: Awaited<ReturnType<typeof startTokenChain>>
beforeAll(async () => {
  session = await startTokenChain()
})
afterAll(() => session.stop())

async function word(address: Address, slot: bigint): Promise<bigint> {
  const value = await getStorageAt(session.client, { address, slot: numberToHex(slot, { size: 32 }) })
  return hexToBigInt(value ?? '0x')
}

const addressWord = async (address: Address, slot: bigint) =>
  getAddress(slice(numberToHex(await word(address, slot), { size: 32 }), 12))

/** Returns the storage slot of a Solidity mapping's value. `slot` is the mapping's own slot. */
const entry = (key: Address | bigint, slot: bigint) =>
  hexToBigInt(
    keccak256(concat([pad(typeof key === 'bigint' ? numberToHex(key) : key), numberToHex(slot, { size: 32 })])),
  )

/** Unpacks six epoch numbers of 40 bits each, the lowest bits first. */
const numbers = (packed: bigint) =>
  Array.from({ length: 6 }, (_, i) => Number((packed >> BigInt(40 * i)) & 0xffffffffffn))

function namespace(name: string): bigint {
  const outer = encodeAbiParameters([{ type: 'uint256' }], [hexToBigInt(keccak256(stringToHex(name))) - 1n])
  return hexToBigInt(keccak256(outer)) & ~0xffn
}

test('the slots follow from their names by ERC-7201', () => {
  expect(namespace('hopper.storage.ERC7540')).toBe(LEDGER)
  expect(namespace('hopper.storage.Roles')).toBe(ROLES)
  expect(namespace('hopper.storage.vault')).toBe(STATE)
  expect(namespace('hopper.storage.Whitelistable')).toBe(WHITELIST)
  expect(namespace('hopper.storage.FeeManager')).toBe(FEES)
})

describe.each(['0.1', '0.2', '0.4', '0.5', '0.5.1', '0.6', 'unknown'] as const)(
  'the storage of a Lagoon %s vault',
  (generation) => {
    test('of a new vault holds the open state, no proposal, first epochs, roles, decimals and silo', async () => {
      const { address } = await session.openVault(generation)
      expect(await word(address, LEDGER)).toBe(0n)
      expect(await word(address, LEDGER + 1n)).toBe(maxUint256)
      expect(numbers(await word(address, LEDGER + 2n))).toEqual([1, 1, 0, 2, 2, 0])
      // The slot packs the wrapped native token's address (160 bits), the asset's decimals and the decimals offset.
      expect((await word(address, LEDGER + 9n)) >> 160n).toBe((12n << 8n) | 18n)
      expect(await word(address, LEDGER + 10n)).toBe(0n)
      expect(await addressWord(address, ROLES)).toBe(ADMIN)
      expect(await addressWord(address, ROLES + 1n)).toBe(FEE_RECEIVER)
      expect(await addressWord(address, ROLES + 2n)).toBe(SAFE)
      expect(await addressWord(address, ROLES + 4n)).toBe(VALUER)
      expect(await word(address, STATE)).toBe(0n)
      expect(await word(address, WHITELIST + 1n)).toBe(0n)
      const hasCap = generation === '0.6' || generation === 'unknown'
      expect(await word(address, LEDGER + 11n)).toBe(hasCap ? maxUint256 : 0n)
    })

    test('follows a deposit from request to claim', async () => {
      const vault = await session.openVault(generation)
      const { address } = vault
      const silo = await addressWord(address, LEDGER + 8n)
      await session.request(vault, ALICE, usdc('100'))
      expect(await session.tokensOf(silo)).toBe(usdc('100'))
      expect(await word(address, entry(ALICE, LEDGER + 5n))).toBe(1n)
      expect(await word(address, entry(ALICE, entry(1n, LEDGER + 3n) + 1n))).toBe(usdc('100'))

      await vault.act(VALUER, 'updateNewTotalAssets', [0n])
      expect(await word(address, LEDGER + 1n)).toBe(0n)
      expect(numbers(await word(address, LEDGER + 2n))).toEqual([3, 1, 0, 2, 2, 0])
      expect(await word(address, entry(1n, LEDGER + 3n))).toBe(1n)
      expect(await word(address, entry(1n, LEDGER + 4n) + 2n)).toBe(usdc('100'))

      await vault.act(SAFE, 'settleDeposit', generation === '0.1' ? [] : [0n])
      expect(numbers(await word(address, LEDGER + 2n))).toEqual([3, 3, 1, 2, 2, 0])
      expect(await word(address, LEDGER)).toBe(usdc('100'))
      expect(await word(address, LEDGER + 1n)).toBe(maxUint256)
      expect(await session.tokensOf(silo)).toBe(0n)
      // Two slots store the vault's share supply and assets before the settlement. Both numbers were zero.
      expect(await word(address, entry(1n, LEDGER + 4n))).toBe(0n)
      expect(await word(address, entry(1n, LEDGER + 4n) + 1n)).toBe(0n)

      await vault.act(ALICE, 'deposit', [usdc('100'), ALICE, ALICE])
      expect(await word(address, entry(ALICE, entry(1n, LEDGER + 3n) + 1n))).toBe(0n)

      await vault.act(ALICE, 'requestRedeem', [10n ** 18n, ALICE, ALICE])
      expect(await word(address, entry(ALICE, LEDGER + 6n))).toBe(2n)
      expect(await word(address, entry(ALICE, entry(2n, LEDGER + 3n) + 2n))).toBe(10n ** 18n)
      await vault.act(ALICE, 'setOperator', [BOB, true])
      expect(await word(address, entry(BOB, entry(ALICE, LEDGER + 7n)))).toBe(1n)
    })

    test('holds the vault’s state, its pause and its whitelist', async () => {
      const vault = await session.openVault(generation, { whitelisted: true })
      await vault.act(ADMIN, 'addToWhitelist', [[ALICE]])
      expect(await word(vault.address, WHITELIST + 1n)).toBe(1n)
      expect(await word(vault.address, entry(ALICE, WHITELIST))).toBe(1n)
      await vault.act(ADMIN, 'pause', [])
      expect(await word(vault.address, namespace('openzeppelin.storage.Pausable'))).toBe(1n)
      await vault.act(ADMIN, 'unpause', [])
      await vault.act(ADMIN, 'initiateClosing', [])
      expect(await word(vault.address, STATE)).toBe(1n)
    })
  },
)

test('from 0.5 a valuation’s expiry is in the low half of its word and its lifespan in the high half', async () => {
  const vault = await session.openVault('0.5')
  await vault.act(SAFE, 'updateTotalAssetsLifespan', [777n])
  await session.settle(vault, 0n)
  const { timestamp } = await getBlock(session.client)
  expect(await word(vault.address, LEDGER + 10n)).toBe((777n << 128n) | (timestamp + 777n))
})

test('from 0.6 the cap, the sync mode and a settlement’s rates have their own words', async () => {
  const vault = await session.openVault('0.6', { entryRate: 25 })
  await vault.act(SAFE, 'updateMaxCap', [usdc('1000')])
  await vault.act(SAFE, 'setSyncMode', [2])
  expect(await word(vault.address, LEDGER + 11n)).toBe(usdc('1000'))
  expect(await word(vault.address, LEDGER + 12n)).toBe(2n)
  await session.request(vault, ALICE, usdc('1'))
  await session.settle(vault, 0n)
  expect(await word(vault.address, entry(1n, LEDGER + 4n) + 4n)).toBe(25n)
  expect((await word(vault.address, FEES + 5n)) >> 32n).toBe(25n)
})

test('a program that replaces their code reads the words of many vaults in one call', async () => {
  const READER: Hex = '0x5f5b803554815260200180369010600157365ff3'
  const multicall = parseAbi([
    'struct Call { address target; bool allowFailure; bytes callData; }',
    'struct Result { bool success; bytes returnData; }',
    'function aggregate3(Call[] calls) payable returns (Result[])',
  ])
  const vaults = await Promise.all([session.openVault('0.4'), session.openVault('0.5'), session.openVault('0.6')])
  const slots = [LEDGER + 1n, LEDGER + 2n, ROLES + 2n]
  const callData = concat(slots.map((slot) => numberToHex(slot, { size: 32 })))
  const { data = '0x' } = await call(session.client, {
    to: MULTICALL3,
    data: encodeFunctionData({
      abi: multicall,
      args: [vaults.map(({ address }) => ({ target: address, allowFailure: false, callData }))],
    }),
    stateOverride: vaults.map(({ address }) => ({ address, code: READER })),
  })
  const results = decodeFunctionResult({ abi: multicall, data })
  for (const { returnData } of results) {
    const words = decodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }, { type: 'address' }], returnData)
    expect(words[0]).toBe(maxUint256)
    expect(numbers(words[1])).toEqual([1, 1, 0, 2, 2, 0])
    expect(words[2]).toBe(SAFE)
  }
})
