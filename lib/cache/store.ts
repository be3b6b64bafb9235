import { randomUUID } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { conditionHeld, getItems, updateItem } from '../aws/dynamo.ts'
import { EpochSeconds, Timestamp } from '../codecs.ts'
import { UPSTREAM_ERRORS } from '../errors.ts'
import { HOUR } from '../time.ts'

/** The error code of a failed refresh: whether the upstream failed, or the table. */
export const FailureCode = z.enum([...UPSTREAM_ERRORS, 'service_unavailable'])

/** Any JSON, compressed: DynamoDB takes 400 KB an item. */
const Compressed = z.codec(z.instanceof(Uint8Array), z.unknown(), {
  decode: (bytes) => JSON.parse(gunzipSync(bytes).toString()),
  encode: (json) => gzipSync(JSON.stringify(json)),
})

/** Moments in epoch milliseconds. */
const Entry = z.object({
  /** The last good answer, and the moment of it. */
  answer: z.object({ json: Compressed, asOf: Timestamp, freshUntil: z.number() }).optional(),
  /** Until when a container holds the lease to refresh it. */
  refreshingUntil: z.number().optional(),
  /** Why the last refresh failed, and until when none is tried. */
  failure: z.object({ code: FailureCode, until: z.number() }).optional(),
})
/** What is stored of one key. */
export type Entry = z.output<typeof Entry>
const Item = Entry.extend({ pk: z.string() })

/** What tells who counted last under a key. */
const Count = z.object({ writeId: z.string() })

const SORT_KEY = 'ANSWER'
/** For how long an entry without an answer is kept. */
const UNANSWERED_SECONDS = HOUR

/** The table of upstreams' answers, shared by all containers. */
export function cacheStore(client: DynamoDBDocumentClient, tableName: string) {
  const keyOf = (key: string) => ({ pk: key, sk: SORT_KEY })
  return {
    /** The entry of a key; an empty one where there is none. */
    async get(key: string): Promise<Entry> {
      const { Item: item } = await client.send(new GetCommand({ TableName: tableName, Key: keyOf(key) }))
      return item ? Item.parse(item) : {}
    },

    /** The entries of these keys, at most 100 in one read; keys without an entry are left out. */
    async getMany(keys: readonly string[]): Promise<Map<string, Entry>> {
      const items = await getItems(client, tableName, keys.map(keyOf), { isConsistent: false })
      return new Map(items.map((item) => Item.parse(item)).map((item) => [item.pk, item]))
    },

    /** Replaces a key's entry by this answer; DynamoDB may delete it at `expiresAt`, in seconds since 1970. */
    async put(key: string, answer: NonNullable<Entry['answer']>, expiresAt: number): Promise<void> {
      const item = z.encode(Entry, { answer })
      await client.send(new PutCommand({ TableName: tableName, Item: { ...keyOf(key), ...item, expiresAt } }))
    },

    /**
     * Takes the lease to refresh a key `until` then; false while another holds it, while a failure is remembered, or when
     * the answer is no longer the one that was `seen`.
     */
    async takeLease(key: string, { seen, now, until }: { seen: Entry['answer']; now: number; until: number }) {
      const taken = await updateItem(client, tableName, {
        key: keyOf(key),
        set: ['refreshingUntil = :until', 'expiresAt = if_not_exists(expiresAt, :expiresAt)'],
        remove: ['failure'],
        condition:
          '(attribute_not_exists(refreshingUntil) OR refreshingUntil <= :now)' +
          ' AND (attribute_not_exists(failure.#until) OR failure.#until <= :now)' +
          ` AND ${seen ? 'answer.asOf = :seen' : 'attribute_not_exists(answer)'}`,
        ExpressionAttributeNames: { '#until': 'until' },
        ExpressionAttributeValues: {
          ':now': now,
          ':until': until,
          ':expiresAt': Math.ceil(until / 1000) + UNANSWERED_SECONDS,
          ...(seen && { ':seen': z.encode(Timestamp, seen.asOf) }),
        },
      })
      return taken !== null
    },

    /** Releases the lease of a refresh that was not tried. */
    async releaseLease(key: string): Promise<void> {
      const UpdateExpression = 'REMOVE refreshingUntil'
      await client.send(new UpdateCommand({ TableName: tableName, Key: keyOf(key), UpdateExpression }))
    },

    /**
     * Counts one more under this key until the moment is over; false, without counting, when `max` are counted. Where the
     * answer is lost the SDK asks again: what then refuses it may be its own count, which the item tells unless another one
     * came between.
     */
    async count(key: string, max: number, until: Date): Promise<boolean> {
      const Key = { pk: key, sk: 'COUNT' }
      const writeId = randomUUID()
      const isCounted = await conditionHeld(
        client.send(
          new UpdateCommand({
            TableName: tableName,
            Key,
            UpdateExpression: 'ADD hits :one SET expiresAt = :end, writeId = :writeId',
            ConditionExpression: '(attribute_not_exists(hits) OR hits < :max) AND NOT writeId = :writeId',
            ExpressionAttributeValues: {
              ':one': 1,
              ':end': EpochSeconds.encode(until),
              ':max': max,
              ':writeId': writeId,
            },
          }),
        ),
      )
      if (isCounted) return true
      const items = await getItems(client, tableName, [Key])
      return z
        .array(Count)
        .parse(items)
        .some((counted) => counted.writeId === writeId)
    },

    /** Releases the lease after a failed refresh; the failure is remembered until `failure.until`. */
    async putFailure(key: string, failure: NonNullable<Entry['failure']>): Promise<void> {
      await client.send(
        new UpdateCommand({
          TableName: tableName,
          Key: keyOf(key),
          UpdateExpression: 'SET failure = :failure REMOVE refreshingUntil',
          ExpressionAttributeValues: { ':failure': failure },
        }),
      )
    },
  }
}
export type CacheStore = ReturnType<typeof cacheStore>
