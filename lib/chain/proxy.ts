import { type Address, type Hash, type Hex, keccak256, numberToHex, parseAbi, toHex } from 'viem'
import { checksumAddress } from '../codecs.ts'
import { call } from './call.ts'
import { codeHashRequests, finishCodeHashes, readCodes } from './code.ts'
import { type ChainReader, type ReadPlan, readPlan } from './reader.ts'

/**
 * Where proxies keep what they run. All code that a proxy hands its calls to has the proxy's storage, so that one proxy
 * behind another keeps it here too.
 */
const SLOTS = {
  'ERC-1967 implementation': slotBefore('eip1967.proxy.implementation'),
  'ERC-1822 implementation': keccak256(toHex('PROXIABLE')),
  'ZeppelinOS implementation': keccak256(toHex('org.zeppelinos.proxy.implementation')),
  'ERC-1967 beacon': slotBefore('eip1967.proxy.beacon'),
}
type SlotRole = keyof typeof SLOTS
// An object has no other keys than its own.
const SLOT_ROLES = Object.keys(SLOTS) as SlotRole[]

/**
 * How a contract leads to code: its own; the one that its code has in itself, as clones have (ERC-1167 and its likes) and
 * accounts that delegate (EIP-7702); those that its storage names; and what its beacon tells.
 */
const OTHER_ROLES = ['contract', 'clone of', "beacon's implementation"] as const
type Role = SlotRole | (typeof OTHER_ROLES)[number]
export const CODE_ROLES: readonly Role[] = [...OTHER_ROLES, ...SLOT_ROLES]

/** Code that runs when a contract is called: how the contract leads there, where it stands, and its hash. */
export type RunningCode = { readonly role: Role; readonly address: Address; readonly codeHash: Hash }

const beaconAbi = parseAbi(['function implementation() view returns (address)'])

/** A clone hands all calls to an address in its code; so does an account that delegates. */
const TARGET = /73([0-9a-f]{40})5af4|^0xef0100([0-9a-f]{40})$/i

/** The hashes of no code: of an address that nobody has used, and of one that has no code. */
const NO_CODE: readonly Hash[] = [numberToHex(0, { size: 32 }), keccak256('0x')]

/**
 * The code that runs when a contract is called, its own first. A proxy of a kind that is not known has its own alone.
 * Four round trips. Throws an Error where one of the addresses has no code, and `upstream_*`.
 */
export async function readRunningCode(reader: ChainReader, address: Address): Promise<RunningCode[]> {
  const [[code = '0x'], { value: named }] = await Promise.all([
    readCodes(reader, [address]),
    reader.readOne(slotPlan(address)),
  ])
  const [, clone, delegate] = TARGET.exec(code) ?? []
  const target = clone ?? delegate
  const beacon = named.find(({ role }) => role === 'ERC-1967 beacon')
  const behindBeacon = beacon && (await reader.readOne(beaconPlan(beacon.address))).value
  const contracts = [
    { role: 'contract' as const, address },
    ...(target === undefined ? [] : [{ role: 'clone of' as const, address: checksumAddress(`0x${target}`) }]),
    ...named,
    ...(behindBeacon === undefined ? [] : [{ role: "beacon's implementation" as const, address: behindBeacon }]),
  ]
  const addresses = contracts.map((contract) => contract.address)
  const hashes = await finishCodeHashes(reader, addresses, await reader.request(codeHashRequests(addresses)))
  return contracts.map((contract, index) => {
    const codeHash = hashes[index]
    if (!codeHash || NO_CODE.includes(codeHash)) throw new Error(`There is no code at ${contract.address}.`)
    return { ...contract, codeHash }
  })
}

/**
 * The plan that reads whether a contract still leads to this code and no other, by its storage and its beacon, not by
 * hashes; undefined where the beacon does not tell. Of a contract whose storage named none nothing is read: that it has
 * the same code says that it reads none.
 */
export function leadsToPlan(address: Address, code: readonly RunningCode[]): ReadPlan<boolean | undefined> {
  const addressOf = (role: Role) => code.find((one) => one.role === role)?.address
  const beacon = addressOf('ERC-1967 beacon')
  return {
    address,
    slots: SLOT_ROLES.some(addressOf) ? Object.values(SLOTS) : [],
    calls: beacon ? [call(beacon, beaconAbi, 'implementation', [])] : [],
    parse({ words, answers: [behindBeacon] }) {
      if (words.some((word, index) => toAddress(word) !== addressOf(SLOT_ROLES[index] ?? 'contract'))) return false
      if (!beacon) return true
      return behindBeacon === undefined ? undefined : behindBeacon === addressOf("beacon's implementation")
    },
  }
}

function slotPlan(address: Address): ReadPlan<{ readonly role: SlotRole; readonly address: Address }[]> {
  return readPlan({ address, slots: SLOTS, calls: {} }, ({ words }) =>
    SLOT_ROLES.flatMap((role) => {
      const named = toAddress(words[role])
      return named ? [{ role, address: named }] : []
    }),
  )
}

function beaconPlan(beacon: Address): ReadPlan<Address | undefined> {
  const calls = { implementation: call(beacon, beaconAbi, 'implementation', []) }
  return readPlan({ address: beacon, slots: {}, calls }, ({ answers }) => answers.implementation)
}

/** The address in a storage word; undefined where there is none. */
function toAddress(word: bigint): Address | undefined {
  const address = BigInt.asUintN(160, word)
  return address === 0n ? undefined : checksumAddress(numberToHex(address, { size: 20 }))
}

/** The slot of a name by ERC-1967. */
function slotBefore(name: string): Hex {
  return numberToHex(BigInt(keccak256(toHex(name))) - 1n, { size: 32 })
}
