import { initialProgress } from '../../lib/activity/store.ts'
import { sha256 } from '../../lib/core/sha256.ts'
import type { SimulatedTrip } from '../../lib/protocols/round-trip.ts'
import type { VaultOnChain } from '../../lib/protocols/vault-on-chain.ts'
import type { Pin } from '../../lib/vaults/pin.ts'
import type { Vault, VaultKey } from '../../lib/vaults/vault.ts'
import { type Admin, AdminError } from '../admin.ts'
import { getClient } from './clients.ts'

/** Texts and ids with which a client presents a vault. Defaults: the vault's own name, an id made of chain and address, empty texts. */
export type Presentation = {
  readonly [Field in 'poolId' | 'name' | 'description' | 'logoUrl' | 'riskProfile' | 'riskProtocol']?:
    | Vault[Field]
    | undefined
}

/** Vault to add. `firstBlock` (the block of its creation) is needed only if no node returns it. */
type NewVault = {
  clientId: string
  firstBlock?: number | undefined
  accepted?: readonly Acceptance[]
} & VaultKey &
  Presentation

/** Options by which an operator accepts a vault that would be refused. */
export type Acceptance = 'accept-no-exit' | 'accept-mixed-up' | 'accept-untried' | 'accept-unknown-version'

/** Maximum number of a client's vaults. With texts of maximum length, that many fit into Lambda's 6 MB response (docs/scale.md). */
const MAX_VAULTS = 1_000

/**
 * Reads a vault from its chain and simulates a deposit and a withdrawal. Pins its code and price unless it has a pin, and adds it to a
 * client. The returned `version` is null if its protocol has none. `before` is its existing pin, which stays. Throws an AdminError with a
 * sentence for each flaw that the operator did not accept.
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
  /** Flaws that the operator accepted, each as a clause of a sentence. */
  flaws: string[]
}> {
  const { client } = await getClient(admin, clientId)
  if (client.vaults.length >= MAX_VAULTS) {
    throw new AdminError(
      `Client ${clientId} has ${client.vaults.length} vaults, which is the maximum. Remove one, or create another client.`,
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
      `The client's vault ${twin.address} on chain ${chainId} has the same share token ${twin.shareToken}: a user's shares could belong to either.`,
    )
  }
  const start = firstBlock ?? deployedAt
  if (start === null) {
    throw new AdminError('The node does not return the block of the deployment. Give it with --first-block.')
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

/** Lists reasons to refuse a vault, each with the option by which the operator accepts it. */
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

/** Returns the flaws that the operator accepted, as texts. Throws an AdminError if one was not accepted. */
function requireAccepted(refusals: readonly [Acceptance, string][], accepted: readonly Acceptance[]): string[] {
  const open = refusals.filter(([acceptance]) => !accepted.includes(acceptance))
  if (open.length > 0) {
    throw new AdminError(open.map(([acceptance, seen]) => `${seen}; --${acceptance} adds it.`).join('\n'))
  }
  return refusals.map(([, seen]) => seen)
}

/**
 * Makes the job refresh-chain read the past of a vault that no client had. A vault that was removed earlier is read again, which yields the
 * same records. Clients get events only after the block `eventsAfter`. If several operators add the vault concurrently, the last block
 * counts.
 */
async function beginRecords({ records }: Admin, vault: Vault, eventsAfter: number): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [{ version } = {}] = await records.getProgress([vault])
    const [begun] = await records.putProgress([[vault, { ...initialProgress(vault), version, eventsAfter }]])
    if (begun) return
  }
  throw new AdminError(`The vault ${vault.address} is being recorded at this moment. Try again in a minute.`)
}
/** Maximum tries to write; more than the number of operators who ever add one vault concurrently. */
const MAX_TRIES = 10

/**
 * Removes a vault from a client; returns true if no other client has it. Its records stay until it is added again, and its pin stays
 * forever. Another client may add the vault meanwhile. A later addition shows the changes since the pin.
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
 * Returns a vault's pin (undefined if none), its current code and price, and a digest of these. If the operator passes this digest, pins
 * the current code and price for all clients. Throws an AdminError if no client has the vault, or the passed digest does not match.
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
      'The vault has changed since it was shown. Nothing is pinned: show it again, without --confirm.',
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
 * Returns a digest of the code and of the price's first two digits, because prices grow while an operator decides. The digest is long
 * enough that no attacker finds another code with the same one.
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
