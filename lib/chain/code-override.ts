import { type Address, concat, type Hex, keccak256, pad, size, slice } from 'viem'
import type { AggregateCall } from './multicall.ts'

/**
 * How a contract's storage and calls are read in one call: a state override puts a program in place of its code that
 * returns storage words when asked for them, and hands every other call to the original code, which a second override
 * puts at an address of its own. `this`, `msg.sender` and storage stay the contract's, so its calls answer as ever.
 */

/** What a call for storage words starts with. No call by Solidity's ABI looks like it: those are 4 bytes longer than words are. */
const STORAGE_CALL: Hex = `0x${'ff'.repeat(32)}`

/** Where the original code stands for contracts whose code is not known: nowhere. */
const NO_CODE: Address = '0x000000000000000000000000000000000000dEaD'

/**
 * Up to here the program that answers calls of whole words that start with `STORAGE_CALL`; then a DELEGATECALL with
 * the same calldata, to the address that stands between both parts.
 */
const PROGRAM_START = '0x5f351936601f161760235760205b8035548152602001803611600d57602036036020f35b365f5f375f5f365f73'
const PROGRAM_END = '0x5af43d5f5f3e604d573d5ffd5b3d5ff3'

/** The calldata that asks the program for these storage words, which it returns one behind the other. */
export function encodeStorageCall(slots: readonly Hex[]): Hex {
  return `${STORAGE_CALL}${slots.map((slot) => slot.slice(2)).join('')}`
}

/** The state overrides of a contract that is asked for storage words; without its code it can be asked for nothing else. */
export function storageOverrides(contract: Address, original?: OriginalCode): Record<Address, { readonly code: Hex }> {
  if (!original) return { [contract]: { code: PROGRAM_WITHOUT_CODE } }
  return { [contract]: { code: original.program }, [original.address]: { code: original.code } }
}

function programFor(codeAddress: Address): Hex {
  return concat([PROGRAM_START, codeAddress, PROGRAM_END])
}
const PROGRAM_WITHOUT_CODE = programFor(NO_CODE)

/**
 * The longest code that is sent along with a read: it is in every request, and beyond a proxy's few hundred bytes it
 * costs more than the second call that it saves.
 */
const LONGEST_CODE = 4_096

/** Returns the code of the contract that its calldata names; reverts where it is longer than `LONGEST_CODE`. */
const CODE_READER_PROGRAM: Hex = `0x5f35803b8061${LONGEST_CODE.toString(16).padStart(4, '0')}10601357805f5f843c5ff35b5f5ffd`
const CODE_READER: Address = slice(keccak256(CODE_READER_PROGRAM), 12)

/** The state override under which `encodeCodeCall` is answered. */
export const codeReaderOverrides = { [CODE_READER]: { code: CODE_READER_PROGRAM } }

/** The call for a contract's code, as it is on the chain; it reverts where that is longer than what is sent along. */
export function encodeCodeCall(contract: Address): AggregateCall {
  return { to: CODE_READER, data: pad(contract) }
}

/** The code of a contract as it is on the chain, and what stands in its place during a read. */
export type OriginalCode = { readonly code: Hex; readonly address: Address; readonly program: Hex }

/** How many contracts are remembered, and how many bytes of different code. */
const MOST_CONTRACTS = 20_000
const MOST_BYTES = 4_000_000
/** After how many reads a code is asked for again: code at an address can change, though it hardly ever does. */
const ASK_AGAIN_AFTER = 500

/** Remembers the code of contracts. What does not fit, or cannot be put elsewhere, is not remembered. */
export function originalCodes() {
  const contracts = new Map<Address, { readonly original: OriginalCode | 'apart'; readonly until: number }>()
  const codes = new Map<Hex, OriginalCode>()
  let bytes = 0

  return {
    /** The code of a contract; `apart` for one whose code must stay where it is, `unknown` where it is to be asked for. `read` counts the reads. */
    get(contract: Address, read: number): OriginalCode | 'apart' | 'unknown' {
      const known = contracts.get(contract)
      return known && read < known.until ? known.original : 'unknown'
    },

    /** Remembers a contract's code; undefined is one that is too long. */
    remember(contract: Address, code: Hex | undefined, read: number): void {
      // What has no code yet may have some in the next block.
      if (code === '0x' || (contracts.size >= MOST_CONTRACTS && !contracts.has(contract))) return
      const original = code !== undefined && isMovable(code) ? keep(code) : 'apart'
      contracts.set(contract, { original, until: read + ASK_AGAIN_AFTER })
    },
  }

  function keep(code: Hex): OriginalCode | 'apart' {
    const kept = codes.get(code)
    if (kept) return kept
    if (bytes + size(code) > MOST_BYTES) return 'apart'
    bytes += size(code)
    const address = slice(keccak256(code), 12)
    const original = { code, address, program: programFor(address) }
    codes.set(code, original)
    return original
  }
}

const OPCODES = { address: 0x30, extcodesize: 0x3b, extcodecopy: 0x3c, extcodehash: 0x3f, push1: 0x60, push32: 0x7f }
/** What the code of an account starts with that delegates to another (EIP-7702). */
const DELEGATION = 0xef

/**
 * Whether code does the same when it stands elsewhere and is called by DELEGATECALL. Code that looks at the code of
 * accounts may look at its own, as clones with arguments behind their code do, and would see the program; the code of an
 * account that delegates (EIP-7702) is none.
 */
function isMovable(code: Hex): boolean {
  const bytes = Buffer.from(code.slice(2), 'hex')
  if (bytes[0] === DELEGATION) return false
  const end = bytes.length - metadataLength(bytes)
  for (let index = 0; index < end; index += 1) {
    const opcode = bytes[index] ?? 0
    if (opcode === OPCODES.extcodecopy || opcode === OPCODES.extcodehash) return false
    // The size of other accounts' code is asked for before calls of them; the own one's in the next step.
    if (opcode === OPCODES.address && bytes[index + 1] === OPCODES.extcodesize) return false
    if (opcode >= OPCODES.push1 && opcode <= OPCODES.push32) index += opcode - OPCODES.push1 + 1
  }
  return true
}

/** The bytes of the metadata that Solidity puts behind code, a CBOR map of short names and its length; nothing runs there. */
function metadataLength(bytes: Buffer): number {
  const length = bytes.length < 2 ? 0 : bytes.readUInt16BE(bytes.length - 2) + 2
  const [map = 0, name = 0] = bytes.subarray(bytes.length - length)
  return length <= bytes.length && map >= 0xa1 && map <= 0xa4 && name >= 0x61 && name <= 0x6f ? length : 0
}
