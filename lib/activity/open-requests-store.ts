import { buildItem, type Table } from '../aws/table.ts'
import type { RequestKind } from '../protocols/request-kind.ts'
import { type VaultKey, vaultPartition } from '../vaults/vault.ts'
import { OpenRequest, type RequestKey, Snapshot } from './open-requests.ts'

type RequestChanges = {
  readonly vault: VaultKey
  readonly opened: readonly OpenRequest[]
  readonly closed: readonly OpenRequest[]
  /**
   * True if no event announces the settlement of these requests, so the scheduled job reads them from the vault. A
   * stored request then keeps its `reported` amount.
   */
  readonly isAsked: boolean
}

type OpenRange = {
  readonly kind: RequestKind
  readonly lastId: bigint
  readonly after?: OpenRequest | undefined
  readonly most: number
}

/**
 * Creates the store of requests that wait for their settlement. An account's requests with one id are one item, because
 * the vault settles them together. A settlement or a cancellation deletes the item.
 */
export function openRequestsStore(table: Table) {
  return {
    async record(changes: readonly RequestChanges[]): Promise<void> {
      const requested = changes.filter(({ isAsked }) => isAsked)
      const keys = requested.flatMap(({ vault, opened }) => opened.map((one) => itemKey(vault, one)))
      const stored = await table.getMany(OpenRequest, keys)
      const known = new Map(keys.map(({ pk, sk }, index) => [`${pk} ${sk}`, stored[index]]))
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

    put: (vault: VaultKey, requests: readonly OpenRequest[]): Promise<void> =>
      table.putMany(requests.map((request) => buildItem(OpenRequest, itemKey(vault, request), request))),

    close: (vault: VaultKey, requests: readonly OpenRequest[]): Promise<void> =>
      table.deleteMany(requests.map((request) => itemKey(vault, request))),

    list,

    /** Gets the requests with these keys that are still waiting, in no particular order. */
    async get(vault: VaultKey, requests: readonly RequestKey[]): Promise<OpenRequest[]> {
      const found = await table.getMany(
        OpenRequest,
        requests.map((request) => itemKey(vault, request)),
      )
      return found.filter((request) => request !== undefined)
    },

    async putSnapshot(vault: VaultKey, snapshot: Snapshot): Promise<void> {
      await table.put(Snapshot, snapshotKey(vault, snapshot), snapshot)
    },

    listSnapshots: (vault: VaultKey): Promise<Snapshot[]> =>
      table.list(Snapshot, { partition: vaultPartition(vault), prefix: SNAPSHOT }),

    deleteSnapshots: (vault: VaultKey, snapshots: readonly Snapshot[]): Promise<void> =>
      table.deleteMany(snapshots.map((snapshot) => snapshotKey(vault, snapshot))),
  }

  /** Lists a vault's waiting requests in the order of their ids. */
  async function list(vault: VaultKey, { kind, lastId, after, most }: OpenRange): Promise<OpenRequest[]> {
    const from = after ? `${itemKey(vault, after).sk}\0` : `OPEN#${kind}#`
    const to = `OPEN#${kind}#${digits(lastId)}#~`
    const range = { partition: vaultPartition(vault), from, to }
    const requests: OpenRequest[] = []
    // DynamoDB also ends a page at one megabyte, so several pages may be needed.
    for await (const page of table.pages(OpenRequest, range, { limit: most })) {
      requests.push(...page)
      if (requests.length >= most) break
    }
    return requests.slice(0, most)
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

function digits(requestId: bigint): string {
  return requestId.toString().padStart(78, '0')
}
