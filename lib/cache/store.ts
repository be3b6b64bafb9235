import { gunzipSync, gzipSync } from 'node:zlib'
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { conditionHeld } from '../aws/dynamo.ts'
import { Timestamp } from '../codecs.ts'

const FailureCode = z.enum(['upstream_bad_answer', 'upstream_unavailable', 'upstream_timeout'])
export type FailureCode = z.output<typeof FailureCode>

/** Any JSON, compressed: DynamoDB takes 400 KB an item. */
const Compressed = z.codec(z.instanceof(Uint8Array), z.unknown(), {
  decode: (bytes) => JSON.parse(gunzipSync(bytes).toString()),
  encode: (json) => gzipSync(JSON.stringify(json)),
})

/** Moments in epoch milliseconds. */
const Entry = z.object({
  /** The last good answer, and the moment of it. */
  answer: z.object({ json: Compressed, asOf: Timestamp, freshUntil: z.number() }).optional(),
  /** Until when someone refreshes it. */
  refreshingUntil: z.number().optional(),
  /** Why the last refresh failed, and until when nobody tries again. */
  failure: z.object({ code: FailureCode, until: z.number() }).optional(),
})
/** What is kept of one question to an upstream. */
export type Entry = z.output<typeof Entry>
const Item = Entry.extend({ pk: z.string() })

const SORT_KEY = 'ANSWER'
/** For how long a question without an answer is remembered. */
const UNANSWERED_SECONDS = 3600

/** The table of upstreams' answers, shared by all containers. */
export function cacheStore(client: DynamoDBDocumentClient, tableName: string) {
  const keyOf = (key: string) => ({ pk: key, sk: SORT_KEY })
  return {
    /** What is kept under this key; nothing is an empty entry. */
    async get(key: string): Promise<Entry> {
      const { Item: item } = await client.send(new GetCommand({ TableName: tableName, Key: keyOf(key) }))
      return item ? Item.parse(item) : {}
    },

    /** What is kept under these keys, at most 100, in one read; keys with nothing are left out. */
    async getMany(keys: readonly string[]): Promise<Map<string, Entry>> {
      const found = new Map<string, Entry>()
      let wanted = keys.map(keyOf)
      while (wanted.length > 0) {
        const { Responses = {}, UnprocessedKeys = {} } = await client.send(
          new BatchGetCommand({ RequestItems: { [tableName]: { Keys: wanted } } }),
        )
        for (const item of z.array(Item).parse(Responses[tableName] ?? [])) found.set(item.pk, item)
        wanted = z
          .array(z.object({ pk: z.string(), sk: z.literal(SORT_KEY) }))
          .parse(UnprocessedKeys[tableName]?.Keys ?? [])
      }
      return found
    },

    /** Keeps an answer, in the place of everything that was kept under the key; DynamoDB may delete it at `expiresAt`, in seconds since 1970. */
    async put(key: string, answer: NonNullable<Entry['answer']>, expiresAt: number): Promise<void> {
      const item = z.encode(Entry, { answer })
      await client.send(new PutCommand({ TableName: tableName, Item: { ...keyOf(key), ...item, expiresAt } }))
    },

    /**
     * Takes the right to refresh a key until then; false while somebody has it, when a refresh has just failed, or when
     * the answer is no longer the one that was `seen`.
     */
    takeRefresh(key: string, { seen, now, until }: { seen: Entry['answer']; now: number; until: number }) {
      return conditionHeld(
        client.send(
          new UpdateCommand({
            TableName: tableName,
            Key: keyOf(key),
            UpdateExpression:
              'SET refreshingUntil = :until, expiresAt = if_not_exists(expiresAt, :expiresAt) REMOVE failure',
            ConditionExpression:
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
          }),
        ),
      )
    },

    /** Gives the right to refresh back: the refresh failed, and nobody is to try again before `failure.until`. */
    async giveUp(key: string, failure: NonNullable<Entry['failure']>): Promise<void> {
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
