import {
  type Address,
  type Hash,
  type Hex,
  hexToBigInt,
  isHex,
  keccak256,
  numberToHex,
  parseAbi,
  toHex,
  zeroAddress,
} from 'viem'
import { checksumAddress } from '../codecs.ts'
import { call, decodeAnswers } from './call.ts'
import { codeHashRequests, finishCodeHashes, NO_CODE, readCodes } from './code.ts'
import { type ChainReader, mapReadPlan, type ReadPlan } from './reader.ts'
import type { RpcOutcome, RpcRequest } from './rpc.ts'

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

/** Code that runs when a contract is called: how it leads there, where it stands, and its hash. */
export type RunningCode = {
  readonly role: Role
  /** Whose code, storage or beacon leads there; absent where it is the contract itself. */
  readonly of?: Address | undefined
  readonly address: Address
  readonly codeHash: Hash
}
type Lead = Omit<RunningCode, 'codeHash'>

const beaconAbi = parseAbi(['function implementation() view returns (address)'])

/** A clone hands all calls to an address in its code; so does an account that delegates. */
const CLONE = /73([0-9a-f]{40})5af4/gi
const DELEGATION = /^0xef0100([0-9a-f]{40})$/i

/** A contract leads to so much code at most: of so many addresses the whole code can be asked for. */
const MOST_CODE = 20

/**
 * The code that runs when a contract is called, its own first, and what tells its beacon the implementation. A proxy of a kind
 * that is not known has its own alone. Throws an Error that says, for an operator, why it cannot be compared later: an
 * address has no code, a beacon does not tell, or there is too much of it; and `upstream_*`.
 */
export async function readRunningCode(reader: ChainReader, address: Address): Promise<RunningCode[]> {
  const found: Lead[] = []
  let leads: Lead[] = [{ role: 'contract', address }]
  while (leads.length > 0) {
    const known = new Set(found.map(placeOf))
    const fresh = leads.filter((lead) => !known.has(placeOf(lead)))
    found.push(...leads)
    if (found.length > MOST_CODE) throw new Error(`${address} leads to more than ${MOST_CODE} contracts' code.`)
    leads = (await follow(reader, fresh)).map(({ of, ...lead }) => (of === address ? lead : { of, ...lead }))
  }
  const addresses = found.map((lead) => lead.address)
  const hashes = await finishCodeHashes(reader, addresses, await reader.request(codeHashRequests(addresses)))
  return found.map((lead, index) => {
    const codeHash = hashes[index]
    // What looks like a clone's target may be a number; it must still have no code then.
    if (!codeHash || (codeHash === NO_CODE && lead.role !== 'clone of')) {
      throw new Error(`There is no code at ${lead.address}.`)
    }
    return { ...lead, codeHash }
  })
}

/** Where these lead: by their code, and those that have storage of their own by that. */
async function follow(reader: ChainReader, from: readonly Lead[]): Promise<Lead[]> {
  const owners = from.filter(ownsStorage).map(({ address }) => address)
  const addresses = from.map(({ address }) => address)
  const [codes, stored] = await Promise.all([
    readCodes(reader, addresses),
    Promise.all(owners.map(async (of) => (await reader.readOne(storagePlan(of))).value.map((one) => ({ of, ...one })))),
  ])
  const cloned = from.flatMap(({ address: of }, index) =>
    targetsIn(codes[index] ?? '0x').map((address) => ({ role: 'clone of' as const, of, address })),
  )
  const named = stored.flat()
  const beacons = named.filter(({ role }) => role === 'ERC-1967 beacon')
  const told = await reader.request(beacons.map(({ of, address }) => implementationRequest(of, address)))
  const behind = beacons.map(({ of, address: beacon }, index) => {
    const address = toldImplementation(told[index])
    if (!address) {
      throw new Error(
        `The beacon ${beacon} of ${of} does not tell its implementation: nobody could tell when it changes.`,
      )
    }
    return { role: "beacon's implementation" as const, of, address }
  })
  return [...cloned, ...named, ...behind]
}

/** Code that runs by delegation has the storage of what hands its calls on. */
function ownsStorage({ role }: Lead): boolean {
  return role === 'contract' || role === 'ERC-1967 beacon'
}

function placeOf(lead: Lead): string {
  return `${ownsStorage(lead)} ${lead.address}`
}

function targetsIn(code: Hex): Address[] {
  const targets = [...code.matchAll(CLONE)].filter(({ index }) => index % 2 === 0).map(([, target]) => target)
  const [, delegate] = DELEGATION.exec(code) ?? []
  return [...new Set([...targets, delegate].filter((target) => target !== undefined))].map((target) =>
    checksumAddress(`0x${target}`),
  )
}

/** The plan that reads whether a contract's storage still names this code and no other, be it nobody. */
export function namesPlan(address: Address, code: readonly RunningCode[]): ReadPlan<boolean> {
  return mapReadPlan(storagePlan(address), (named) => areNamed(named, code, undefined))
}

/**
 * The calls that go beside the plan for code behind a beacon, whose outcomes `parseBeacons` reads: what the beacon tells
 * the contract, and where its own storage leads.
 */
export function beaconRequests(address: Address, code: readonly RunningCode[]): RpcRequest[] {
  return beaconsOf(code).flatMap(({ of = address, address: beacon }) => [
    implementationRequest(of, beacon),
    ...Object.values(SLOTS).map((slot) => ({ method: 'eth_getStorageAt', params: [beacon, slot, 'latest'] })),
  ])
}

/** Whether beacons still lead to this code and no other, not by hashes; undefined where one does not tell. */
export function parseBeacons(code: readonly RunningCode[], outcomes: readonly (RpcOutcome | undefined)[]) {
  const width = 1 + SLOT_ROLES.length
  const verdicts = beaconsOf(code).map(({ of, address: beacon }, index) => {
    const [told, ...words] = outcomes.slice(index * width, (index + 1) * width)
    const implementation = toldImplementation(told)
    const expected = code.find((one) => one.role === "beacon's implementation" && one.of === of)?.address
    if (implementation !== undefined && implementation !== expected) return false
    const stored = words.map((word) => (word && 'result' in word && isHex(word.result) ? word.result : undefined))
    if (implementation === undefined || stored.length < SLOT_ROLES.length || stored.includes(undefined))
      return undefined
    return areNamed(namedBy(stored.map((word) => hexToBigInt(word ?? '0x'))), code, beacon)
  })
  if (verdicts.includes(false)) return false
  return verdicts.includes(undefined) ? undefined : true
}

function beaconsOf(code: readonly RunningCode[]): RunningCode[] {
  return code.filter(({ role }) => role === 'ERC-1967 beacon')
}

/** A contract that a storage slot names. */
type Named = { readonly role: SlotRole; readonly address: Address }

/** Whether these are all that the storage of a part of the code names. */
function areNamed(named: readonly Named[], code: readonly RunningCode[], of: Address | undefined): boolean {
  return SLOT_ROLES.every(
    (role) =>
      named.find((one) => one.role === role)?.address ===
      code.find((one) => one.role === role && one.of === of)?.address,
  )
}

function storagePlan(address: Address): ReadPlan<Named[]> {
  return { address, slots: Object.values(SLOTS), calls: [], parse: ({ words }) => namedBy(words) }
}

/** The contracts that the words of all slots name, in the order of the slots. */
function namedBy(words: readonly bigint[]): Named[] {
  return SLOT_ROLES.flatMap((role, index) => {
    const address = BigInt.asUintN(160, words[index] ?? 0n)
    return address === 0n ? [] : [{ role, address: checksumAddress(numberToHex(address, { size: 20 })) }]
  })
}

/** A beacon may tell by who asks: the call as the contract makes it. */
function implementationRequest(from: Address, beacon: Address): RpcRequest {
  const { to, data } = call(beacon, beaconAbi, 'implementation', [])
  return { method: 'eth_call', params: [{ from, to, data }, 'latest'] }
}

function toldImplementation(outcome: RpcOutcome | undefined): Address | undefined {
  if (!outcome || !('result' in outcome) || !isHex(outcome.result)) return undefined
  const [address] = decodeAnswers([call(zeroAddress, beaconAbi, 'implementation', [])], [outcome.result])
  return address
}

/** The slot of a name by ERC-1967. */
function slotBefore(name: string): Hex {
  return numberToHex(BigInt(keccak256(toHex(name))) - 1n, { size: 32 })
}
