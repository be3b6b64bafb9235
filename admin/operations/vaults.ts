import { initialProgress } from '../../lib/activity/store.ts'
import type { SimulatedTrip } from '../../lib/protocols/round-trip.ts'
import type { VaultOnChain } from '../../lib/protocols/vault-on-chain.ts'
import { sha256 } from '../../lib/sha256.ts'
import type { Pin } from '../../lib/vaults/pin.ts'
import type { Vault, VaultKey } from '../../lib/vaults/vault.ts'
import { type Admin, AdminError } from '../admin.ts'
import { getClient } from './clients.ts'

/** How a client shows a vault; what is left out is the vault's own name, an id made of chain and address, or empty. */
export type Presentation = {
  readonly [Field in 'poolId' | 'name' | 'description' | 'logoUrl' | 'riskProfile' | 'riskProtocol']?:
    | Vault[Field]
    | undefined
}

/** A vault to add; `firstBlock` only where its node does not tell. */
type NewVault = {
  clientId: string
  firstBlock?: number | undefined
  accepted?: readonly Acceptance[]
} & VaultKey &
  Presentation

/** The options by which an operator accepts a vault that is refused otherwise. */
export type Acceptance = 'accept-no-exit' | 'accept-mixed-up' | 'accept-untried' | 'accept-unknown-version'

/**
 * How many vaults a client has at most: all of them in one answer are below the 6 MB that Lambda gives, also where their texts
 * are as long as may be (docs/scale.md).
 */
const MAX_VAULTS = 1_000

/**
 * Reads a vault from its chain, simulates a deposit and a withdrawal, pins the vault unless it is pinned already, and adds it to a
 * client; `version` is null where its protocol has none, `before` is the pin that it had and has. Throws AdminError with a sentence
 * for each thing that the operator has to accept.
 */
export async function addVault(
  admin: Admin,
  { clientId, chainId, address, firstBlock, accepted = [], ...presentation }: NewVault,
): Promise<{
  vault: Vault
  version: string | null
  before: Pin | undefined
  pin: Pin
  nodes: number
  trip: SimulatedTrip
  /** The flaws that the operator accepted, a clause each. */
  flaws: string[]
}> {
  const { client } = await getClient(admin, clientId)
  if (client.vaults.length >= MAX_VAULTS) {
    throw new AdminError(
      `Client ${clientId} has ${client.vaults.length} vaults, the most that there can be. Remove one, or add a client for more.`,
    )
  }
  const poolId = presentation.poolId ?? `${chainId}-${address}`
  const rival = client.vaults.find(
    (vault) => vault.poolId === poolId && !(vault.chainId === chainId && vault.address === address),
  )
  if (rival) throw new AdminError(`Pool id ${poolId} is taken by the vault ${rival.address} on chain ${rival.chainId}.`)

  const {
    version,
    unknownVersion,
    firstBlock: deployedAt,
    ...description
  } = await admin.describeVault(chainId, address)
  const twin = client.vaults.find(
    (vault) => vault.chainId === chainId && vault.shareToken === description.shareToken && vault.address !== address,
  )
  if (twin) {
    throw new AdminError(
      `The client's vault ${twin.address} on chain ${chainId} has the same share token ${twin.shareToken}: whose shares a user has could not be told.`,
    )
  }
  const start = firstBlock ?? deployedAt
  if (start === null) {
    throw new AdminError('The node does not tell when the vault was deployed. Give its block with --first-block.')
  }
  const described: Vault = {
    ...description,
    firstBlock: start,
    poolId,
    name: presentation.name ?? description.name,
    description: presentation.description ?? '',
    logoUrl: presentation.logoUrl ?? '',
    riskProfile: presentation.riskProfile ?? '',
    riskProtocol: presentation.riskProtocol ?? '',
    addedAt: new Date(admin.now()),
  }
  const [{ pin, nodes, block }, trip] = await Promise.all([
    readPinNow(admin, described),
    admin.simulateRoundTrip(described),
  ])
  const flaws = requireAccepted(refusalsOf(described, trip, unknownVersion), accepted)
  const vault: Vault = { ...described, ...(trip.measured && { roundTrip: trip.measured.roundTrip }) }
  if (!(await admin.clients.getVaultOnChain(vault))) await beginRecords(admin, vault, Number(block))
  const isNew = await admin.pinStore.add(vault, pin)
  const added = await admin.clients.putVault(clientId, vault)
  if (!added) throw new AdminError(`Client ${clientId} has the vault ${address} on chain ${chainId} already.`)
  const [before] = isNew ? [] : await admin.pinStore.get([vault])
  return { vault, version, before, pin, nodes, trip, flaws }
}

/** Why a vault is refused, each with the option that accepts it. */
function refusalsOf(
  { protocol }: Vault,
  { measured, untried, mixedUp }: SimulatedTrip,
  unknownVersion: string | undefined,
): [Acceptance, string][] {
  const refusals: [Acceptance, string][] = mixedUp.map((seen) => ['accept-mixed-up', `The vault is mixed up: ${seen}`])
  if (untried !== undefined) refusals.push(['accept-untried', `The way out could not be tried: ${untried}`])
  if (measured && !measured.withdrawal)
    refusals.push(['accept-no-exit', `The vault has no way out: ${measured.noExit}`])
  if (unknownVersion !== undefined) {
    const seen = `The vault is ${unknownVersion}, an unknown version, and would be added as ${protocol}`
    refusals.push(['accept-unknown-version', seen])
  }
  return refusals
}

/** Returns the flaws of a vault. Throws AdminError if the operator did not accept one. */
function requireAccepted(refusals: readonly [Acceptance, string][], accepted: readonly Acceptance[]): string[] {
  const open = refusals.filter(([acceptance]) => !accepted.includes(acceptance))
  if (open.length > 0) {
    throw new AdminError(open.map(([acceptance, seen]) => `${seen}; --${acceptance} adds it.`).join('\n'))
  }
  return refusals.map(([, seen]) => seen)
}

/**
 * Has the job read the past of a vault that no client has, again where one had it before: the same events make the same records. Clients
 * get the events after this block. Several operators may add it at once: the last one's block counts.
 */
async function beginRecords({ records }: Admin, vault: Vault, eventsAfter: number): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [{ version } = {}] = await records.getProgress([vault])
    const [begun] = await records.putProgress([[vault, { ...initialProgress(vault), version, eventsAfter }]])
    if (begun) return
  }
  throw new AdminError(`The vault ${vault.address} is being recorded at this moment. Try again in a minute.`)
}
/** More operators than add one vault at once. */
const MAX_TRIES = 10

/**
 * Takes a vault from a client; true where no other has it. Its records stay until it is added again, and its pin for good:
 * another client may be given the vault at the same moment, and who adds it again is told what changed since.
 */
export async function removeVault(
  admin: Admin,
  { clientId, chainId, address }: { clientId: string } & VaultKey,
): Promise<boolean> {
  await getClient(admin, clientId)
  const removed = await admin.clients.removeVault(clientId, { chainId, address })
  if (!removed) throw new AdminError(`Client ${clientId} does not have the vault ${address} on chain ${chainId}.`)
  return removed.isLast
}

/**
 * What of a vault was pinned, undefined where nothing was, and what is now, with a digest of it: pinned in its place, for all
 * clients that have the vault, once the operator gives the digest of what was shown. Throws AdminError when no client has the
 * vault, or when what is there now is not what was shown.
 */
export async function confirmVault(
  admin: Admin,
  key: VaultKey,
  { shown }: { shown: string | undefined },
): Promise<{ before: Pin | undefined; pin: Pin; nodes: number; digest: string }> {
  const vault = await findVaultOfAny(admin, key)
  const [before] = await admin.pinStore.get([vault])
  const { pin, nodes } = await readPinNow(admin, vault)
  const digest = digestOf(pin)
  if (shown !== undefined && shown !== digest) {
    throw new AdminError(
      'What is there now is not what was shown. Nothing is done: look at it again, without --confirm.',
    )
  }
  if (shown !== undefined) await admin.pinStore.replace(vault, pin)
  return { before, pin, nodes, digest }
}

async function readPinNow(
  admin: Admin,
  vault: Omit<VaultOnChain, 'firstBlock'>,
): Promise<{ pin: Pin; nodes: number; block: bigint }> {
  const { nodes, block, ...found } = await admin.readPin(vault)
  return { pin: { ...found, pinnedAt: new Date(admin.now()) }, nodes, block }
}

/**
 * Stands for what was shown: the code, and of the price the first two digits, for prices grow while an operator looks. So long
 * that nobody can make two kinds of code of which both have it.
 */
function digestOf({ code, price }: Pin): string {
  const text = price?.toString()
  const roughly = text && `${text.slice(0, 2)} of ${text.length} digits`
  return sha256(JSON.stringify([code, roughly])).slice(0, 32)
}

async function findVaultOfAny(admin: Admin, { chainId, address }: VaultKey): Promise<VaultOnChain> {
  const vault = await admin.clients.getVaultOnChain({ chainId, address })
  if (!vault) throw new AdminError(`No client has a vault ${address} on chain ${chainId}. See list-vaults.`)
  return vault
}
