import { type Address, concat, type Hex, keccak256, numberToHex, pad } from 'viem'
import type { MadeUpStorage } from './simulation.ts'

/** Numbers of the mapping of balances: of plain contracts, and of OpenZeppelin's upgradeable ones behind 50 words for each base. */
const MAPPINGS = [...Array(21).keys(), 51, 101, 151, 201].map(BigInt)
/** ERC-7201 location `openzeppelin.storage.ERC20`, whose first word is the mapping of balances. */
const OPENZEPPELIN_ERC20 = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n
/** Solady's ERC20 hashes the account with this seed. */
const SOLADY_SEED: Hex = '0x000000000000000087a211a2'

/** The amount in the first probed slot. Small: some tokens keep a flag in the highest bit of a balance (USDC). */
const FIRST_AMOUNT = 1_000_000_007n

/** Storage slots in which a token may keep an account's balance: those of Solidity, Vyper, OpenZeppelin and Solady. */
function balanceSlots(account: Address): Hex[] {
  const key = pad(account)
  const word = (value: bigint) => numberToHex(value, { size: 32 })
  return [
    ...[...MAPPINGS, OPENZEPPELIN_ERC20].map((mapping) => keccak256(concat([key, word(mapping)]))),
    ...MAPPINGS.map((mapping) => keccak256(concat([word(mapping), key]))),
    keccak256(concat([account, SOLADY_SEED])),
  ]
}

/** A way to find where tokens keep an account's balance: storage that shows it, and the slot by the balance that a token then reports. */
export type BalanceProbe = {
  readonly storage: MadeUpStorage
  /** Undefined if none of the probed slots holds the balance. */
  readonly slotOf: (balance: bigint | undefined) => Hex | undefined
}

/** The probe of these tokens: each slot that may hold the account's balance has another amount. */
export function balanceProbe(tokens: readonly Address[], account: Address): BalanceProbe {
  const slots = balanceSlots(account)
  const stateDiff = Object.fromEntries(slots.map((slot, index) => [slot, amountWord(FIRST_AMOUNT + BigInt(index))]))
  return {
    storage: Object.fromEntries(tokens.map((token) => [token, { stateDiff }])),
    slotOf: (balance) => (balance === undefined ? undefined : slots[Number(balance - FIRST_AMOUNT)]),
  }
}

/** A balance as a storage word. */
export function amountWord(amount: bigint): Hex {
  return numberToHex(amount, { size: 32 })
}
