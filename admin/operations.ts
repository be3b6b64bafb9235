import { deleteUser, endSessions } from '../lib/accounts/access.ts'
import type { UsersStore } from '../lib/accounts/store.ts'
import type { User } from '../lib/accounts/user.ts'
import { beginVault } from '../lib/activity/recording/rebuild.ts'
import type { RecordsStore } from '../lib/activity/store.ts'
import type { TransfersStore } from '../lib/bridge/store.ts'
import type { TransferKey } from '../lib/bridge/transfer.ts'
import { createApiKey, type KeyEnvironment, type RandomBytes, randomBase62 } from '../lib/clients/api-key.ts'
import type { ApiKey, Client, ClientRecord } from '../lib/clients/client.ts'
import { DEFAULT_LIMITS, type KeyLimits } from '../lib/clients/key-limits.ts'
import type { VaultDescription } from '../lib/protocols/describe.ts'
import type { VaultOnChain } from '../lib/protocols/vault-on-chain.ts'
import { sha256 } from '../lib/sha256.ts'
import { createSigningKey, keyIdOf, type SigningKey } from '../lib/signing/keys.ts'
import type { Pin } from '../lib/vaults/pin.ts'
import type { PinStore } from '../lib/vaults/pin-store.ts'
import type { Vault, VaultKey } from '../lib/vaults/vault.ts'
import type { NewWebhook, WebhookResponse } from '../lib/webhooks/responses.ts'
import type { Nodes } from './check-nodes.ts'
import type { ClientsAdminStore } from './clients.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { Examined } from './doctor.ts'
import type { EdgeKeysSecret } from './edge-keys.ts'
import type { itemsRestorer } from './restore.ts'
import type { SigningKeysSecret } from './signing-keys.ts'
import type { GivenUpEvent, Resumed, WebhooksAdmin } from './webhooks.ts'

/** What an operator's work needs of one environment. */
export type Admin = {
  readonly clients: ClientsAdminStore
  readonly users: UsersStore
  readonly transfers: Pick<TransfersStore, 'get' | 'forget'>
  readonly records: Pick<RecordsStore, 'getProgress' | 'putProgress'>
  readonly pinStore: Pick<PinStore, 'get' | 'add' | 'replace'>
  readonly webhooks: WebhooksAdmin
  readonly deadLetters: DeadLetters
  readonly signingKeys: SigningKeysSecret
  /** Only stages have any. */
  readonly edgeKeys: EdgeKeysSecret | undefined
  readonly restoreItems: ReturnType<typeof itemsRestorer>
  readonly keyEnvironment: KeyEnvironment
  readonly randomBytes: RandomBytes
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Reads from the chain what a vault is. */
  readonly describeVault: (chainId: number, address: Vault['address']) => Promise<VaultDescription>
  /** Reads from the chain what of a vault is pinned, how many hosts told it, and the last block that they know. */
  readonly readPin: (
    vault: Omit<VaultOnChain, 'firstBlock'>,
  ) => Promise<Pick<Pin, 'code' | 'price'> & { readonly nodes: number; readonly block: bigint }>
  readonly nodes: Nodes
  readonly examined: Examined
  /** Has the job read a vault's past again and put it in the place of its records. */
  readonly requestRebuild: (vault: VaultOnChain) => Promise<void>
}

/** How a client shows a vault; what is left out is the vault's own name, an id made of chain and address, or empty. */
type Presentation = {
  readonly [Field in 'poolId' | 'name' | 'description' | 'logoUrl' | 'riskProfile' | 'riskProtocol']?:
    | Vault[Field]
    | undefined
}

/** A vault to add; `firstBlock` only where its node does not tell. */
type NewVault = { clientId: string; firstBlock?: number | undefined } & VaultKey & Presentation

type UserKey = Pick<User, 'clientId' | 'email'>

/** What the operator asked for cannot be done; the message tells why, in full. */
export class AdminError extends Error {}

/** Registers a client, without keys and vaults. */
export async function createClient({ clients, randomBytes, now }: Admin, name: string): Promise<Client> {
  const client = { clientId: randomBase62(10, randomBytes), name, createdAt: new Date(now()), vaults: [] }
  if (!(await clients.create(client))) throw new AdminError('The new client drew an id that is taken. Try again.')
  return client
}

/** The client with its keys; throws AdminError when there is none. */
export async function getClient({ clients }: Admin, clientId: string): Promise<ClientRecord> {
  const record = await clients.get(clientId)
  if (!record) throw new AdminError(`There is no client ${clientId}. See list-clients.`)
  return record
}

/** What an operator says of a key's limits: what is undefined stays as it is, and a list that is null is bounded no more. */
export type LimitChanges = {
  readonly [Name in keyof KeyLimits]?: KeyLimits[Name] | (Name extends 'scopes' | 'rate' ? never : null) | undefined
}

/** Gives a client a new API key, and the key's text, which is kept nowhere. */
export async function issueKey(
  admin: Admin,
  {
    clientId,
    name,
    expiresAt,
    limits = {},
  }: { clientId: string; name: string; expiresAt?: Date | undefined; limits?: LimitChanges },
): Promise<{ text: string; key: ApiKey }> {
  const { clients, keyEnvironment, randomBytes, now } = admin
  const createdAt = new Date(now())
  if (expiresAt && expiresAt <= createdAt) throw new AdminError('The key would have expired already.')
  await getClient(admin, clientId)

  const text = createApiKey(keyEnvironment, clientId, randomBytes)
  const key: ApiKey = {
    keyId: randomBase62(10, randomBytes),
    name,
    sha256: sha256(text),
    lastFour: text.slice(-4),
    createdAt,
    expiresAt,
    limits: changeLimits(DEFAULT_LIMITS, limits),
  }
  if (!(await clients.putKey(clientId, key))) throw new AdminError('The new key drew an id that is taken. Try again.')
  return { text, key }
}

/** Changes what a client's key may do, and gives the key as it is then. */
export async function limitKey(
  admin: Admin,
  { clientId, keyId, changes }: { clientId: string; keyId: string; changes: LimitChanges },
): Promise<ApiKey> {
  const key = await getKey(admin, clientId, keyId)
  const limits = changeLimits(key.limits, changes)
  await admin.clients.putLimits(clientId, keyId, limits)
  return { ...key, limits }
}

/** These limits with the changes; a list that is bounded no more is left out. Throws AdminError where they contradict each other. */
function changeLimits(limits: KeyLimits, { scopes, rate, ...lists }: LimitChanges): KeyLimits {
  const change = <T>(before: T | undefined, after: T | null | undefined) =>
    after === undefined ? before : (after ?? undefined)
  const changed = {
    scopes: scopes ?? limits.scopes,
    rate: rate ?? limits.rate,
    chains: change(limits.chains, lists.chains),
    vaults: change(limits.vaults, lists.vaults),
    largestDeposits: change(limits.largestDeposits, lists.largestDeposits),
  }
  // Its client has one log for all of its vaults.
  if (changed.scopes.includes('webhooks') && (changed.chains || changed.vaults)) {
    throw new AdminError(
      'A key that opens webhooks is told of all vaults of its client: it cannot be for certain chains or vaults.',
    )
  }
  return changed
}

async function getKey(admin: Admin, clientId: string, keyId: string): Promise<ApiKey> {
  const { keys } = await getClient(admin, clientId)
  const key = keys.find((candidate) => candidate.keyId === keyId)
  if (!key) throw new AdminError(`Client ${clientId} has no key ${keyId}. See list-keys.`)
  return key
}

/** Revokes a client's key for ever. */
export async function revokeKey(admin: Admin, clientId: string, keyId: string): Promise<ApiKey> {
  const key = await getKey(admin, clientId, keyId)
  const revokedAt = new Date(admin.now())
  const revoked = await admin.clients.revokeKey(clientId, keyId, revokedAt)
  if (!revoked) throw new AdminError(`Key ${keyId} is revoked already.`)
  return { ...key, revokedAt }
}

/**
 * How many vaults a client has at most: all of them in one answer are below the 6 MB that Lambda gives, also where their texts
 * are as long as may be (docs/scale.md, "Requests").
 */
const MOST_VAULTS = 1_000

/**
 * Reads a vault from its chain, pins it unless it is pinned already, and adds it to a client; `version` is null where its
 * protocol has none, `before` is the pin that it had and has.
 */
export async function addVault(
  admin: Admin,
  { clientId, chainId, address, firstBlock, ...presentation }: NewVault,
): Promise<{ vault: Vault; version: string | null; before: Pin | undefined; pin: Pin; nodes: number }> {
  const { client } = await getClient(admin, clientId)
  if (client.vaults.length >= MOST_VAULTS) {
    throw new AdminError(
      `Client ${clientId} has ${client.vaults.length} vaults, the most that there can be. Remove one, or add a client for more.`,
    )
  }
  const poolId = presentation.poolId ?? `${chainId}-${address}`
  const rival = client.vaults.find(
    (vault) => vault.poolId === poolId && !(vault.chainId === chainId && vault.address === address),
  )
  if (rival) throw new AdminError(`Pool id ${poolId} is taken by the vault ${rival.address} on chain ${rival.chainId}.`)

  const { version, firstBlock: deployedAt, ...description } = await admin.describeVault(chainId, address)
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
  const vault: Vault = {
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
  const { pin, nodes, block } = await readPinNow(admin, vault)
  if (!(await admin.clients.getVaultOnChain(vault))) {
    // Before any client has it, whatever is left of when one had it.
    const [left] = await admin.records.getProgress([vault])
    const begun = beginVault(vault, left, { eventsAfter: Number(block), now: admin.now() })
    await admin.records.putProgress([[vault, begun]])
  }
  const isNew = await admin.pinStore.add(vault, pin)
  const added = await admin.clients.putVault(clientId, vault)
  if (!added) throw new AdminError(`Client ${clientId} has the vault ${address} on chain ${chainId} already.`)
  const [before] = isNew ? [] : await admin.pinStore.get([vault])
  return { vault, version, before, pin, nodes }
}

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

/** Sets what an operator decides of a user, and gives the user as it is then; what is undefined stays. */
export async function decideUser(
  admin: Admin,
  { clientId, email }: UserKey,
  { kyc, smartGas }: { readonly [Field in 'kyc' | 'smartGas']: User[Field] },
): Promise<User> {
  if (kyc === undefined && smartGas === undefined) throw new AdminError('Give --kyc, --smart-gas-usd, or both.')
  const decisions = { ...(kyc !== undefined && { kyc }), ...(smartGas !== undefined && { smartGas }) }
  await admin.users.decide({ clientId, email }, decisions)
  return getUser(admin, { clientId, email })
}

/** A client's user; throws AdminError when there is none. */
export async function getUser({ users }: Admin, { clientId, email }: UserKey): Promise<User> {
  const user = await users.get({ clientId, email })
  if (!user) throw new AdminError(`Client ${clientId} has no user ${email}.`)
  return user
}

/**
 * Ends all sessions of a user, or the one with this id, and tells how many of them were under way; throws AdminError when
 * there is no such user or session.
 */
export async function endUserSessions(admin: Admin, key: UserKey, sessionId?: string): Promise<number> {
  const user = await getUser(admin, key)
  const isMeant = (id: string) => sessionId === undefined || id === sessionId
  const meant = Object.entries(user.sessions).filter(([id]) => isMeant(id))
  if (sessionId !== undefined && meant.length === 0) {
    throw new AdminError(`User ${key.email} of client ${key.clientId} has no session ${sessionId}. See list-sessions.`)
  }
  await endSessions(admin.users, user, (id) => !isMeant(id))
  return meant.filter(([, { expiresAt }]) => expiresAt.getTime() > admin.now()).length
}

/**
 * Deletes a user with everything that the user has. Throws AdminError when there is no such user, and, as long as the
 * operator has not confirmed it, with who it is.
 */
export async function removeUser(admin: Admin, key: UserKey, { isConfirmed }: { isConfirmed: boolean }): Promise<void> {
  const user = await getUser(admin, key)
  if (!isConfirmed) throw new AdminError(`${describeUser(user)} would be deleted, for good. Add --yes to do it.`)
  await deleteUser(admin.users, user)
}

function describeUser({ email, clientId, createdAt, credentials, wallets }: User): string {
  const since = createdAt.toISOString().slice(0, 10)
  const [credentialCount, walletCount] = [credentials, wallets].map((held) => Object.keys(held).length)
  return `User ${email} of client ${clientId} (registered ${since}, credentials: ${credentialCount}, wallets: ${walletCount})`
}

/** Forgets what is recorded of a transfer; throws AdminError when nothing is. */
export async function forgetTransfer({ transfers }: Admin, key: TransferKey): Promise<void> {
  const { sourceChainId, transactionHash, index } = key
  if (!(await transfers.get(key))) {
    throw new AdminError(`Nothing is recorded of deposit ${index} of ${transactionHash} on chain ${sourceChainId}.`)
  }
  await transfers.forget(key)
}

/** Registers a client with one key and these vaults, and gives the key's text. */
export async function seedClient(
  admin: Admin,
  { name, vaults }: { name: string; vaults: readonly (VaultKey & Presentation)[] },
): Promise<{ clientId: string; apiKey: string; vaults: Vault[] }> {
  const { clientId } = await createClient(admin, name)
  const { text } = await issueKey(admin, { clientId, name: 'first key' })
  const added = await Promise.all(vaults.map((vault) => addVault(admin, { ...vault, clientId })))
  return { clientId, apiKey: text, vaults: added.map(({ vault }) => vault) }
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

/** Lists vaults of clients with their chains that are not listed there, as after a part of the table was restored; how many. */
export async function relistVaults({ clients }: Pick<Admin, 'clients'>): Promise<number> {
  const unlisted = await clients.findUnlisted()
  for (const vault of unlisted) await clients.listAgain(vault)
  return unlisted.length
}

/** Has the job read a vault's past again and put it in the place of its records; the line to print. */
export async function rebuildRecords(admin: Admin, { chainId, address }: VaultKey): Promise<string> {
  await admin.requestRebuild(await findVaultOfAny(admin, { chainId, address }))
  return `The job reads the past of ${address} on chain ${chainId} again. Until it has, what is recorded stays in force.`
}

/** Makes a key: the one that signs where there is none, else the next one, which is published alone. */
export async function addSigningKey({ signingKeys, now }: Admin) {
  const keys = await signingKeys.read()
  if (keys.length > 1) throw new AdminError('There are two keys already. See remove-signing-key.')
  const key = createSigningKey(new Date(now()))
  await signingKeys.write([...keys, key])
  return { keyId: keyIdOf(key), x: key.x, signs: keys.length === 0 }
}

/** Signs with this key from now on; the other one stays published. */
export async function useSigningKey({ signingKeys }: Admin, keyId: string): Promise<void> {
  const keys = await signingKeys.read()
  const [first] = keys
  const key = findKey(keys, keyId)
  if (key === first) throw new AdminError(`Key ${keyId} is the one that signs already.`)
  await signingKeys.write([key, ...keys.filter((other) => other !== key)])
}

/** Publishes this key no more; the one that signs cannot go. */
export async function removeSigningKey({ signingKeys }: Admin, keyId: string): Promise<void> {
  const keys = await signingKeys.read()
  const key = findKey(keys, keyId)
  if (key === keys[0]) throw new AdminError(`Key ${keyId} is the one that signs. See use-signing-key.`)
  await signingKeys.write(keys.filter((other) => other !== key))
}

/** Makes a key by which functions know CloudFront, and gives its hash, which says nothing of it. */
export async function addEdgeKey({ edgeKeys, randomBytes }: Pick<Admin, 'edgeKeys' | 'randomBytes'>): Promise<string> {
  const [secret, keys] = await readEdgeKeys(edgeKeys)
  if (Object.keys(keys).length > 1) throw new AdminError('There are two keys already. See remove-edge-key.')
  const key = Buffer.from(randomBytes(32)).toString('hex')
  const hash = sha256(key)
  await secret.write({ ...keys, [hash]: key })
  return hash
}

/** Forgets a key of the edge: with it nothing can be deployed any more. */
export async function removeEdgeKey({ edgeKeys }: Admin, hash: string): Promise<void> {
  const [secret, { [hash]: key, ...others }] = await readEdgeKeys(edgeKeys)
  if (key === undefined) throw new AdminError(`There is no key ${hash}.`)
  await secret.write(others)
}

async function readEdgeKeys(secret: EdgeKeysSecret | undefined) {
  if (!secret) throw new AdminError('The local service has no edge. Give --stage.')
  return [secret, await secret.read()] as const
}

function findKey(keys: readonly SigningKey[], keyId: string): SigningKey {
  const key = keys.find((candidate) => keyIdOf(candidate) === keyId)
  if (!key) throw new AdminError(`There is no key ${keyId}. See list-signing-keys.`)
  return key
}

/** Registers a webhook of a client, and gives it with its secret, which is kept nowhere. */
export async function addWebhook(admin: Admin, clientId: string, webhook: NewWebhook) {
  await getClient(admin, clientId)
  return await admin.webhooks.add(clientId, webhook)
}

/** Removes a webhook of a client. */
export async function removeWebhook(admin: Admin, clientId: string, id: string): Promise<void> {
  if (await admin.webhooks.remove(clientId, id)) return
  throw new AdminError(`Client ${clientId} has no webhook ${id}. See list-webhooks.`)
}

/** The webhooks of one client, or of all, a client after the other. */
export async function listWebhooks(
  admin: Admin,
  clientId: string | undefined,
): Promise<(WebhookResponse & { clientId: string })[]> {
  const webhooks: (WebhookResponse & { clientId: string })[] = []
  for (const id of await listClientIds(admin, clientId)) {
    webhooks.push(...(await admin.webhooks.list(id)).map((webhook) => ({ clientId: id, ...webhook })))
  }
  return webhooks
}

/** The events that webhooks gave up, of one client or of all, a client after the other. */
export async function listGivenUp(admin: Admin, clientId: string | undefined): Promise<GivenUpEvent[]> {
  const events: GivenUpEvent[] = []
  for (const id of await listClientIds(admin, clientId)) events.push(...(await admin.webhooks.listGivenUp(id)))
  return events
}

/** Has webhooks told at once what they did not take, of one client or of all; those that are switched off are only counted. */
export async function resumeWebhooks(admin: Admin, clientId: string | undefined): Promise<Resumed> {
  const sum = { resumed: 0, disabled: 0 }
  for (const id of await listClientIds(admin, clientId)) {
    const { resumed, disabled } = await admin.webhooks.resume(id)
    sum.resumed += resumed
    sum.disabled += disabled
  }
  return sum
}

/**
 * Forgets the events that webhooks gave up, of one client, of one of its webhooks, or of all. Gives how many, and throws
 * AdminError as long as the operator has not confirmed it, and where a webhook is being sent to.
 */
export async function dropGivenUp(
  admin: Admin,
  { clientId, webhookId }: { clientId: string | undefined; webhookId: string | undefined },
  { isConfirmed }: { isConfirmed: boolean },
): Promise<number> {
  const isMeant = (id: string) => webhookId === undefined || id === webhookId
  if (webhookId !== undefined && !(await listWebhooks(admin, clientId)).some(({ id }) => isMeant(id))) {
    throw new AdminError(`There is no webhook ${webhookId}. See list-webhooks.`)
  }
  const events = (await listGivenUp(admin, clientId)).filter((event) => isMeant(event.webhookId))
  const webhooks = [...new Map(events.map((event) => [`${event.clientId} ${event.webhookId}`, event])).values()]
  if (!isConfirmed) {
    throw new AdminError(
      `Events that would be sent no more: ${events.length}, of webhooks: ${webhooks.length}. Add --yes to do it.`,
    )
  }
  for (const { clientId, webhookId } of webhooks) {
    if (await admin.webhooks.dropGivenUp({ clientId, webhookId })) continue
    throw new AdminError(`Webhook ${webhookId} of client ${clientId} is being sent to. Try again in a minute.`)
  }
  return events.length
}

/**
 * Deletes the messages of one queue that functions could not work on. Throws AdminError where there is no such queue, or as long
 * as the operator has not confirmed it, and what SQS refuses.
 */
export async function dropDeadLetters(
  { deadLetters }: Admin,
  { queue, isConfirmed }: { queue: string; isConfirmed: boolean },
): Promise<string> {
  const { queues } = deadLetters
  if (!queues.includes(queue)) throw new AdminError(`There is no queue ${queue}, but ${queues.join(', ')}.`)
  if (!isConfirmed) {
    const count = await deadLetters.count(queue)
    throw new AdminError(`Messages of ${queue} that would be deleted, for good: about ${count}. Add --yes to do it.`)
  }
  return `Dead letters of ${queue}: deleted; left: about ${await deadLetters.drop(queue)}.`
}

async function listClientIds(admin: Admin, clientId: string | undefined): Promise<string[]> {
  if (clientId !== undefined) return [(await getClient(admin, clientId)).client.clientId]
  return (await admin.clients.list()).map((client) => client.clientId)
}
