import { type Address, type Hex, isHex, keccak256, numberToHex, pad, parseAbi, toHex, zeroAddress } from 'viem'
import { checksumAddress } from '../core/codecs.ts'
import { buildCall, decodeReturnValues } from './call.ts'
import { buildDelegationCode, codeRequest, findDelegate } from './code.ts'
import { HexText } from './hex.ts'
import { parseResult } from './logs.ts'
import { type ChainReader, mapReadPlan, type ReadPlan } from './reader.ts'
import type { RpcOutcome, RpcRequest } from './rpc.ts'

/**
 * Storage slots in which proxy contracts keep the address of their implementation. The implementation uses the proxy's
 * storage. A second proxy behind the first one therefore uses the first proxy's slots.
 */
const SLOTS = {
  'ERC-1967 implementation': slotBefore('eip1967.proxy.implementation'),
  'ERC-1822 implementation': keccak256(toHex('PROXIABLE')),
  'ZeppelinOS implementation': keccak256(toHex('org.zeppelinos.proxy.implementation')),
  'ERC-1967 beacon': slotBefore('eip1967.proxy.beacon'),
}
type SlotRole = keyof typeof SLOTS
// The cast is right: the object has exactly these keys.
const SLOT_ROLES = Object.keys(SLOTS) as SlotRole[]

/**
 * Ways, besides a storage slot, in which a contract leads to the code that runs: its own code, the target in a clone's
 * code (ERC-1167 and similar), an account's delegate (EIP-7702), and a beacon.
 */
const OTHER_ROLES = ['contract', 'clone of', 'EIP-7702 delegate', "beacon's implementation"] as const
/** All ways in which a contract leads to the code that runs when it is called. */
export const POINTER_ROLES = [...OTHER_ROLES, ...SLOT_ROLES]

/**
 * An address whose code runs when a contract is called. Code at an address never changes (EIP-6780), so a comparison of
 * addresses reveals every upgrade.
 */
export type Pointer = {
  readonly role: (typeof POINTER_ROLES)[number]
  /** Address of the contract whose code, storage or beacon leads to `address`; absent if it is the contract that users call. */
  readonly of?: Address | undefined
  readonly address: Address
}

type PointedContract = { readonly address: Address; readonly pointers: readonly Pointer[] }

/**
 * Result of comparing a contract's code with an earlier record. `unknown` means that the chain returned no result, so
 * the code may have changed.
 */
export type ImplementationChange = 'same' | 'changed' | 'unknown'

const beaconAbi = parseAbi(['function implementation() view returns (address)'])

/** Bytecode pattern of a clone (ERC-1167), which contains the address that receives all calls. */
const CLONE = /73([0-9a-f]{40})5af4/gi

const MAX_POINTERS = 20

/**
 * Reads all addresses whose code runs when a contract is called, the contract's own first. For an unknown kind of proxy
 * only the contract itself is found. Throws an Error if a later comparison could miss a change. The causes are an
 * address without code, a beacon without implementation, or too many addresses. Also throws `upstream_*`.
 */
export async function readPointers(reader: ChainReader, address: Address): Promise<Pointer[]> {
  const found: Pointer[] = []
  let leads: Pointer[] = [{ role: 'contract', address }]
  while (leads.length > 0) {
    const known = new Set(found.map(placeOf))
    const fresh = leads.filter((lead) => !known.has(placeOf(lead)))
    found.push(...leads)
    if (found.length > MAX_POINTERS) throw new Error(`${address} leads to more than ${MAX_POINTERS} contracts' code.`)
    leads = (await follow(reader, fresh)).map(({ of, ...lead }) => (of === address ? lead : { of, ...lead }))
  }
  return found
}

async function follow(reader: ChainReader, from: readonly Pointer[]): Promise<Pointer[]> {
  const owners = from.filter(ownsStorage).map(({ address }) => address)
  const [codes, stored] = await Promise.all([
    reader.request(from.map(({ address }) => codeRequest(address))),
    Promise.all(owners.map(async (of) => (await reader.readOne(storagePlan(of))).value.map((one) => ({ of, ...one })))),
  ])
  const inCode = from.flatMap(({ role, address: of }, index) => {
    const code = parseResult(HexText, codes[index])
    // A clone's target without code is no error, because bytes that look like a target address may be another number.
    if (code === '0x' && role !== 'clone of') throw new Error(`There is no code at ${of}.`)
    return pointersIn(code).map((pointer) => ({ of, ...pointer }))
  })
  const named = stored.flat()
  const beacons = named.filter(({ role }) => role === 'ERC-1967 beacon')
  const returned = await reader.request(beacons.map(({ of, address }) => implementationRequest(of, address)))
  const behind = beacons.map(({ of, address: beacon }, index) => {
    const address = parseImplementation(returned[index])
    if (!address) {
      throw new Error(`The beacon ${beacon} of ${of} does not return its implementation: a change would go unnoticed.`)
    }
    return { role: "beacon's implementation" as const, of, address }
  })
  return [...inCode, ...named, ...behind]
}

function ownsStorage({ role }: Pointer): boolean {
  return role === 'contract' || role === 'ERC-1967 beacon'
}

function placeOf(pointer: Pointer): string {
  return `${ownsStorage(pointer)} ${pointer.address}`
}

function pointersIn(code: Hex): Pointer[] {
  const delegate = findDelegate(code)
  if (delegate) return [{ role: 'EIP-7702 delegate', address: delegate }]
  const targets = [...code.matchAll(CLONE)].filter(({ index }) => index % 2 === 0).map(([, target]) => target)
  return [...new Set(targets)].map((target) => ({ role: 'clone of', address: checksumAddress(`0x${target}`) }))
}

/** Returns the plan that reads whether a contract's storage still contains exactly the recorded implementation and beacon addresses. */
export function ownPointersPlan({ address, pointers }: PointedContract): ReadPlan<boolean> {
  return mapReadPlan(storagePlan(address), (named) => areNamed(named, pointers, undefined))
}

/**
 * Compares the recorded addresses that `ownPointersPlan` does not read: those behind beacons, and delegates of
 * accounts. Returns a verdict for each contract. Takes one HTTP request, or none without beacons and delegates. Throws
 * `upstream_*`.
 */
export async function compareOtherPointers(
  reader: ChainReader,
  contracts: readonly PointedContract[],
): Promise<ImplementationChange[]> {
  const checks = contracts.map(checksOf)
  const extraCalls = checks.flatMap((ofOne) => ofOne.map(({ request }) => request))
  if (extraCalls.length === 0) return contracts.map(() => 'same')
  const beacons = [...new Set(contracts.flatMap(beaconsOf).map(({ address }) => address))]
  const { values, outcomes } = await reader.readEach(beacons.map(storagePlan), { extraCalls })
  const namedBy = new Map(beacons.map((beacon, index) => [beacon, values[index]]))
  return contracts.map((contract, index) => {
    const isSame = [
      ...(checks[index] ?? []).map(({ expected }) => hasResult(outcomes.shift(), expected)),
      ...beaconsOf(contract).map(({ address }) => {
        const named = namedBy.get(address)
        return named && areNamed(named, contract.pointers, address)
      }),
    ]
    if (isSame.includes(false)) return 'changed'
    return isSame.includes(undefined) ? 'unknown' : 'same'
  })
}

/**
 * Returns the requests that read a contract's delegates and its beacons' implementations. `expected` is the result that
 * shows an unchanged address.
 */
function checksOf({
  address: contract,
  pointers,
}: PointedContract): { readonly request: RpcRequest; readonly expected: Hex }[] {
  return pointers.flatMap(({ role, of, address }) => {
    if (role === 'EIP-7702 delegate')
      return { request: codeRequest(of ?? contract), expected: buildDelegationCode(address) }
    const beacon = pointers.find((one) => one.role === 'ERC-1967 beacon' && one.of === of)
    if (role !== "beacon's implementation" || !beacon) return []
    return { request: implementationRequest(of ?? contract, beacon.address), expected: pad(address) }
  })
}

function hasResult(outcome: RpcOutcome | undefined, expected: Hex): boolean | undefined {
  if (!outcome || !('result' in outcome) || !isHex(outcome.result)) return undefined
  return outcome.result.toLowerCase().startsWith(expected.toLowerCase())
}

function beaconsOf({ pointers }: PointedContract): Pointer[] {
  return pointers.filter(({ role }) => role === 'ERC-1967 beacon')
}

type NamedContract = { readonly role: SlotRole; readonly address: Address }

function areNamed(named: readonly NamedContract[], pointers: readonly Pointer[], of: Address | undefined): boolean {
  return SLOT_ROLES.every(
    (role) =>
      named.find((one) => one.role === role)?.address ===
      pointers.find((one) => one.role === role && one.of === of)?.address,
  )
}

function storagePlan(address: Address): ReadPlan<NamedContract[]> {
  return { address, slots: Object.values(SLOTS), calls: [], parse: ({ words }) => namedBy(words) }
}

function namedBy(words: readonly bigint[]): NamedContract[] {
  return SLOT_ROLES.flatMap((role, index) => {
    const address = BigInt.asUintN(160, words[index] ?? 0n)
    return address === 0n ? [] : [{ role, address: checksumAddress(numberToHex(address, { size: 20 })) }]
  })
}

/**
 * Builds the call that returns a beacon's implementation. The proxy contract is the sender, because a beacon may return
 * another implementation to each caller.
 */
function implementationRequest(from: Address, beacon: Address): RpcRequest {
  const { to, data } = buildCall(beacon, beaconAbi, 'implementation', [])
  return { method: 'eth_call', params: [{ from, to, data }, 'latest'] }
}

function parseImplementation(outcome: RpcOutcome | undefined): Address | undefined {
  if (!outcome || !('result' in outcome) || !isHex(outcome.result)) return undefined
  const [address] = decodeReturnValues([buildCall(zeroAddress, beaconAbi, 'implementation', [])], [outcome.result])
  return address
}

/** Returns the ERC-1967 storage slot of a name: the hash of the name, minus one. */
function slotBefore(name: string): Hex {
  return numberToHex(BigInt(keccak256(toHex(name))) - 1n, { size: 32 })
}
