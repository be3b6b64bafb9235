import { initialProgress } from '../../lib/activity/store.ts'
import { sha256 } from '../../lib/core/sha256.ts'
import type { SimulatedTrip } from '../../lib/protocols/round-trip.ts'
import type { VaultOnChain } from '../../lib/protocols/vault-on-chain.ts'
import type { Pin } from '../../lib/vaults/pin.ts'
import type { Vault, VaultKey } from '../../lib/vaults/vault.ts'
import { type Admin, AdminError } from '../admin.ts'
import { getClient } from './clients.ts'

/** Texts with which a client presents a vault. Defaults: the vault's own name, `<chain id>-<address>` as `poolId`, and empty texts. */
export type VaultPresentation = {
  readonly [Field in 'poolId' | 'name' | 'description' | 'logoUrl' | 'riskProfile' | 'riskProtocol']?:
    | Vault[Field]
    | undefined
}

/** Vault to add. `firstBlock` is needed only if the node does not return the block of the vault's deployment. */
type NewVault = {
  clientId: string
  firstBlock?: number | undefined
  accepted?: readonly AcceptedFlaw[]
} & VaultKey &
  VaultPresentation

/** Options by which an operator accepts a vault that would be refused. */
export type AcceptedFlaw = 'accept-no-exit' | 'accept-mixed-up' | 'accept-untried' | 'accept-unknown-version'

/** Maximum number of a client's vaults: with texts of maximum length, all of them fit into Lambda's 6 MB response (docs/scale.md). */
const MAX_VAULTS = 1_000

/**
 * Reads a vault from its chain, simulates a deposit and a withdrawal, and adds the vault to a client. Stores the vault's code and price as
 * confirmed (its pin), unless it has a pin already; `before` is the existing pin. `version` is null if the vault's protocol has none.
 * Throws an AdminError with a sentence for each flaw that the operator has to accept.
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
  /** Flaws of the vault that the operator accepted, each described in a clause. */
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

/** Lists reasons to refuse a vault. Each names the command-line option that adds the vault in spite of it. */
function refusalsOf(
  { protocol }: Vault,
  { measured, untried, contradictions }: SimulatedTrip,
  unknownVersion: string | undefined,
): [AcceptedFlaw, string][] {
  const refusals: [AcceptedFlaw, string][] = contradictions.map((contradiction) => [
    'accept-mixed-up',
    `The vault is mixed up: ${contradiction}`,
  ])
  if (untried !== undefined) refusals.push(['accept-untried', `The way out could not be tried: ${untried}`])
  if (measured && !measured.withdrawal)
    refusals.push(['accept-no-exit', `The vault has no way out: ${measured.noExit}`])
  if (unknownVersion !== undefined) {
    const problem = `The vault is ${unknownVersion}, an unknown version, and would be added as ${protocol}`
    refusals.push(['accept-unknown-version', problem])
  }
  return refusals
}

/** Returns all flaws of a vault. Throws an AdminError if the operator did not accept each of them. */
function requireAccepted(refusals: readonly [AcceptedFlaw, string][], accepted: readonly AcceptedFlaw[]): string[] {
  const open = refusals.filter(([acceptance]) => !accepted.includes(acceptance))
  if (open.length > 0) {
    throw new AdminError(open.map(([acceptance, problem]) => `${problem}; --${acceptance} adds it.`).join('\n'))
  }
  return refusals.map(([, problem]) => problem)
}

/**
 * Makes the job refresh-chain read all events of a vault that no client has. The job may record an event again, because
 * that results in the same records. Clients are notified of events in blocks above `eventsAfter`. If several operators
 * add the vault concurrently, the `eventsAfter` of the last operator counts.
 */
async function beginRecords({ records }: Admin, vault: Vault, eventsAfter: number): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [{ version } = {}] = await records.getProgress([vault])
    const [begun] = await records.putProgress([[vault, { ...initialProgress(vault), version, eventsAfter }]])
    if (begun) return
  }
  throw new AdminError(`The vault ${vault.address} is being recorded at this moment. Try again in a minute.`)
}
/**
 * Maximum tries to store a vault's recording progress. A try fails only if a job or another operator stores the
 * progress of the same vault concurrently.
 */
const MAX_TRIES = 10

/**
 * Removes a vault from a client; returns true if no other client has the vault. The vault's records stay until somebody adds the vault
 * again. The confirmed code and price (the pin) stay for ever, so that a later addition shows changes.
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
 * Returns the confirmed code and price of a vault (its pin; undefined if none), its current code and price, and a digest of the current
 * ones. If the operator passes this digest as `shown`, stores the current ones as confirmed, for all clients. Throws an AdminError if no
 * client has the vault, or if the digest has changed.
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
  const { nodes, block, ...pin } = await admin.readPin(vault)
  return { pin: { ...pin, pinnedAt: new Date(admin.now()) }, nodes, block }
}

/**
 * Returns a digest of a vault's code addresses and the first two digits of its price. Further digits do not count, because prices grow
 * while an operator decides. The digest has 128 bits, so that different code practically never has the same digest.
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
