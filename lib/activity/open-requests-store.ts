import * as z from 'zod'
import type { ItemKey } from '../aws/requests.ts'
import { buildItem, type Table } from '../aws/table.ts'
import { MAX_UINT256 } from '../codecs.ts'
import { RequestKind } from '../protocols/request-kind.ts'
import { vaultPartition } from '../vaults/vault.ts'
import { OpenRequest } from './open-requests.ts'
import { generationText, type Reading } from './reading.ts'

/** Which requests wait since by one reading, and which do not any more. */
type RequestChanges = {
  readonly reading: Reading
  readonly opened: readonly OpenRequest[]
  readonly closed: readonly OpenRequest[]
  /** Whether the vault is asked what became of them: what clients were told of those that wait already is kept. */
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

/** How many requests are taken over together. */
const TAKEN_OVER_AT_ONCE = 100

/**
 * The requests of each vault that wait for their settlement, beside its records: an item for all of an account with the same
 * id, for these are settled together. They go with what settles them, takes them back, or replaces the records.
 */
export function openRequestsStore(table: Table) {
  return {
    /** Has requests wait by readings of their vaults' pasts, and others no more. */
    async record(changes: readonly RequestChanges[]): Promise<void> {
      const asked = changes.filter(({ isAsked }) => isAsked)
      const known = await getKnown(asked.flatMap(({ reading, opened }) => opened.map((one) => itemKey(reading, one))))
      const opened = changes.flatMap(({ reading, opened }) =>
        opened.map((request) => {
          const key = itemKey(reading, request)
          return buildItem(OpenRequest, key, { ...request, ...sinceRequested(known.get(`${key.pk} ${key.sk}`)) })
        }),
      )
      await table.putMany(opened)
      const closed = changes.flatMap(({ reading, closed }) => closed.map((request) => itemKey(reading, request)))
      await table.deleteMany(closed)
    },

    /** Has what waits by a reading say of what clients were told what it says by an earlier one, of which it takes the place. */
    async takeOver(earlier: Reading, reading: Reading): Promise<void> {
      for (const kind of RequestKind.options) {
        let page: OpenRequest[] = []
        do {
          page = await list(earlier, { kind, lastId: MAX_UINT256, after: page.at(-1), most: TAKEN_OVER_AT_ONCE })
          const known = await getKnown(page.map((request) => itemKey(reading, request)))
          const kept = page.flatMap((request) => {
            const key = itemKey(reading, request)
            const { look, check, published, latest } = request
            const own = known.get(`${key.pk} ${key.sk}`)
            return own ? [buildItem(OpenRequest, key, { ...own, look, check, published, latest })] : []
          })
          await table.putMany(kept)
        } while (page.length === TAKEN_OVER_AT_ONCE)
      }
    },

    /** Has requests that wait say what they say now. */
    put: (reading: Reading, requests: readonly OpenRequest[]): Promise<void> =>
      table.putMany(requests.map((request) => buildItem(OpenRequest, itemKey(reading, request), request))),

    /** Has requests wait no more. */
    close: (reading: Reading, requests: readonly OpenRequest[]): Promise<void> =>
      table.deleteMany(requests.map((request) => itemKey(reading, request))),

    list,

    /** Deletes what waits by earlier readings. Ends early once `isOver`; false where more is left. */
    deleteEarlier: (reading: Reading, isOver: () => boolean): Promise<boolean> =>
      table.deleteRange({ partition: vaultPartition(reading), from: prefixOf({}), to: prefixOf(reading) }, isOver),
  }

  /** The requests that wait by a reading, in the order of their ids. */
  async function list(reading: Reading, { kind, lastId, after, most }: OpenRange): Promise<OpenRequest[]> {
    const from = after ? `${itemKey(reading, after).sk}\0` : `${prefixOf(reading)}#${kind}#`
    const to = `${prefixOf(reading)}#${kind}#${digits(lastId)}#~`
    const range = { partition: vaultPartition(reading), from, to }
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

/** What is kept of a request when more is requested with its id: a look that is judged says nothing of that. */
function sinceRequested({ look, check, published, latest }: Partial<OpenRequest> = {}) {
  return { look: look?.isJudged ? undefined : look, check, published, latest }
}

/** The start of a reading's sort keys: those of earlier readings sort before those of later ones. */
function prefixOf({ generation }: Pick<Reading, 'generation'>): string {
  return `OPEN@${generationText(generation)}`
}

function itemKey(reading: Reading, { kind, requestId, account }: OpenRequest) {
  return { pk: vaultPartition(reading), sk: `${prefixOf(reading)}#${kind}#${digits(requestId)}#${account}` }
}

/** An id as text that sorts: it has up to 256 bits. */
function digits(requestId: bigint): string {
  return requestId.toString().padStart(78, '0')
}
