import * as z from 'zod'
import type { ItemKey } from '../aws/requests.ts'
import { buildItem, type Table } from '../aws/table.ts'
import type { RequestKind } from '../protocols/request-kind.ts'
import { type VaultKey, vaultPartition } from '../vaults/vault.ts'
import { OpenRequest, type RequestKey, Snapshot } from './open-requests.ts'

/** Which requests of a vault wait since, and which do not any more. */
type RequestChanges = {
  readonly vault: VaultKey
  readonly opened: readonly OpenRequest[]
  readonly closed: readonly OpenRequest[]
  /** Whether the vault is asked what became of them: what was reported of those that wait already is kept. */
  readonly isAsked: boolean
}

/** Which requests are listed: of one kind, with ids up to `lastId`, after this one, so many at most. */
type OpenRange = {
  readonly kind: RequestKind
  readonly lastId: bigint
  readonly after?: OpenRequest | undefined
  readonly most: number
}

const Stored = OpenRequest.extend({ pk: z.string(), sk: z.string() })

/**
 * The requests of each vault that wait for their settlement, beside its records: an item for all of an account with the same
 * id, for these are settled together. They go with what settles them or takes them back.
 */
export function openRequestsStore(table: Table) {
  return {
    /** Has requests wait, and others no more. */
    async record(changes: readonly RequestChanges[]): Promise<void> {
      const asked = changes.filter(({ isAsked }) => isAsked)
      const known = await getKnown(asked.flatMap(({ vault, opened }) => opened.map((one) => itemKey(vault, one))))
      const opened = changes.flatMap(({ vault, opened }) =>
        opened.map((request) => {
          const key = itemKey(vault, request)
          return buildItem(OpenRequest, key, { ...request, reported: known.get(`${key.pk} ${key.sk}`)?.reported })
        }),
      )
      await table.putMany(opened)
      const closed = changes.flatMap(({ vault, closed }) => closed.map((request) => itemKey(vault, request)))
      await table.deleteMany(closed)
    },

    /** Has requests that wait say what they say now. */
    put: (vault: VaultKey, requests: readonly OpenRequest[]): Promise<void> =>
      table.putMany(requests.map((request) => buildItem(OpenRequest, itemKey(vault, request), request))),

    /** Has requests wait no more. */
    close: (vault: VaultKey, requests: readonly OpenRequest[]): Promise<void> =>
      table.deleteMany(requests.map((request) => itemKey(vault, request))),

    list,

    /** Those of these requests that wait. */
    async get(vault: VaultKey, requests: readonly RequestKey[]): Promise<OpenRequest[]> {
      return [...(await getKnown(requests.map((request) => itemKey(vault, request)))).values()]
    },

    /** Keeps a snapshot. */
    async putSnapshot(vault: VaultKey, snapshot: Snapshot): Promise<void> {
      await table.put(Snapshot, snapshotKey(vault, snapshot), snapshot)
    },

    /** A vault's snapshots, the earliest first. */
    listSnapshots: (vault: VaultKey): Promise<Snapshot[]> =>
      table.list(Snapshot, { partition: vaultPartition(vault), prefix: SNAPSHOT }),

    /** Deletes snapshots. */
    deleteSnapshots: (vault: VaultKey, snapshots: readonly Snapshot[]): Promise<void> =>
      table.deleteMany(snapshots.map((snapshot) => snapshotKey(vault, snapshot))),
  }

  /** The requests of a vault that wait, in the order of their ids. */
  async function list(vault: VaultKey, { kind, lastId, after, most }: OpenRange): Promise<OpenRequest[]> {
    const from = after ? `${itemKey(vault, after).sk}\0` : `OPEN#${kind}#`
    const to = `OPEN#${kind}#${digits(lastId)}#~`
    const range = { partition: vaultPartition(vault), from, to }
    const requests: OpenRequest[] = []
    // A page of a query ends with a megabyte too.
    for await (const page of table.pages(OpenRequest, range, { limit: most })) {
      requests.push(...page)
      if (requests.length >= most) break
    }
    return requests.slice(0, most)
  }

  /** What waits with these keys, by them. */
  async function getKnown(keys: readonly ItemKey[]): Promise<ReadonlyMap<string, OpenRequest>> {
    const items = await table.getMany(Stored, keys)
    return new Map(items.map(({ pk, sk, ...request }) => [`${pk} ${sk}`, request]))
  }
}
export type OpenRequestsStore = ReturnType<typeof openRequestsStore>

function itemKey(vault: VaultKey, { kind, requestId, account }: RequestKey) {
  return { pk: vaultPartition(vault), sk: `OPEN#${kind}#${digits(requestId)}#${account}` }
}

const SNAPSHOT = 'SNAPSHOT#'

function snapshotKey(vault: VaultKey, { number }: Snapshot) {
  return { pk: vaultPartition(vault), sk: `${SNAPSHOT}${number.toString().padStart(12, '0')}` }
}

/** An id as text that sorts: it has up to 256 bits. */
function digits(requestId: bigint): string {
  return requestId.toString().padStart(78, '0')
}
