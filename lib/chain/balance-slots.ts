import { type Address, concat, type Hex, keccak256, numberToHex, pad } from 'viem'
import type { StorageOverrides } from './simulation.ts'

/**
 * Storage slots in which tokens keep their mapping of balances. Plain contracts use slots 0 to 20. OpenZeppelin's
 * upgradeable contracts use later slots, because each base contract reserves 50 words.
 */
const MAPPINGS = [...Array(21).keys(), 51, 101, 151, 201].map(BigInt)
/** Slot of the mapping of balances in OpenZeppelin's ERC-7201 namespace `openzeppelin.storage.ERC20`. */
const OPENZEPPELIN_ERC20 = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n
const SOLADY_SEED: Hex = '0x000000000000000087a211a2'

/**
 * Test balance for the first candidate slot; each later slot gets 1 more. Amounts stay small, because some tokens
 * (USDC) keep a flag in the highest bit of a balance.
 */
const FIRST_AMOUNT = 1_000_000_007n

function balanceSlots(account: Address): Hex[] {
  const key = pad(account)
  const word = (value: bigint) => numberToHex(value, { size: 32 })
  return [
    ...[...MAPPINGS, OPENZEPPELIN_ERC20].map((mapping) => keccak256(concat([key, word(mapping)]))),
    ...MAPPINGS.map((mapping) => keccak256(concat([word(mapping), key]))),
    keccak256(concat([account, SOLADY_SEED])),
  ]
}

/**
 * A test that finds the storage slot of an account's token balance. A simulation with the override `storage` makes the
 * token report a test balance. `slotOf` returns the slot that contains this test balance; undefined if none does.
 */
export type BalanceSlotTest = {
  readonly storage: StorageOverrides
  readonly slotOf: (balance: bigint | undefined) => Hex | undefined
}

/**
 * Builds the test that finds the account's balance slot in these tokens. Each slot that may hold the balance gets a
 * different test balance.
 */
export function buildBalanceSlotTest(tokens: readonly Address[], account: Address): BalanceSlotTest {
  const slots = balanceSlots(account)
  const stateDiff = Object.fromEntries(slots.map((slot, index) => [slot, amountWord(FIRST_AMOUNT + BigInt(index))]))
  return {
    storage: Object.fromEntries(tokens.map((token) => [token, { stateDiff }])),
    slotOf: (balance) => (balance === undefined ? undefined : slots[Number(balance - FIRST_AMOUNT)]),
  }
}

/** Returns a balance as a 32-byte storage word. */
export function amountWord(amount: bigint): Hex {
  return numberToHex(amount, { size: 32 })
}
