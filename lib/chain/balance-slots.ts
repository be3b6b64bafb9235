import { type Address, concat, type Hex, keccak256, numberToHex, pad } from 'viem'
import type { StorageOverrides } from './simulation.ts'

/** Slots of the mapping of balances: plain contracts (0 to 20), and OpenZeppelin's upgradeable ones with 50 words for each base. */
const MAPPINGS = [...Array(21).keys(), 51, 101, 151, 201].map(BigInt)
/** ERC-7201 location `openzeppelin.storage.ERC20`; its first word is the mapping of balances. */
const OPENZEPPELIN_ERC20 = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n
const SOLADY_SEED: Hex = '0x000000000000000087a211a2'

/** Amount in the first probed slot. Small: some tokens keep a flag in the highest bit of a balance (USDC). */
const FIRST_AMOUNT = 1_000_000_007n

/** Returns the possible slots of Solidity, Vyper, OpenZeppelin and Solady. */
function balanceSlots(account: Address): Hex[] {
  const key = pad(account)
  const word = (value: bigint) => numberToHex(value, { size: 32 })
  return [
    ...[...MAPPINGS, OPENZEPPELIN_ERC20].map((mapping) => keccak256(concat([key, word(mapping)]))),
    ...MAPPINGS.map((mapping) => keccak256(concat([word(mapping), key]))),
    keccak256(concat([account, SOLADY_SEED])),
  ]
}

/** A probe for the slot of an account's balance: storage overrides, and the slot for the balance that a token then reports. */
export type BalanceProbe = {
  readonly storage: StorageOverrides
  readonly slotOf: (balance: bigint | undefined) => Hex | undefined
}

/** Builds the probe of these tokens: each slot that may hold the account's balance has another amount. */
export function balanceProbe(tokens: readonly Address[], account: Address): BalanceProbe {
  const slots = balanceSlots(account)
  const stateDiff = Object.fromEntries(slots.map((slot, index) => [slot, amountWord(FIRST_AMOUNT + BigInt(index))]))
  return {
    storage: Object.fromEntries(tokens.map((token) => [token, { stateDiff }])),
    slotOf: (balance) => (balance === undefined ? undefined : slots[Number(balance - FIRST_AMOUNT)]),
  }
}

/** Returns a balance as a storage word. */
export function amountWord(amount: bigint): Hex {
  return numberToHex(amount, { size: 32 })
}
