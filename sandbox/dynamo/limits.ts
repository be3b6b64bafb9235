import db from 'dynalite/db/index.js'
import { findExpressionLimitError } from '../expression-limits.ts'

type Attributes = Readonly<Record<string, Value>>
/** Attribute value in DynamoDB's wire format. */
type Value = { readonly S?: string; readonly L?: readonly Value[]; readonly M?: Attributes }

/** Part of a request that concerns one item or one query. */
type ItemRequest = Readonly<Record<string, unknown>> & {
  readonly Item?: Attributes
  readonly Key?: Attributes
  readonly ExpressionAttributeValues?: Attributes
  readonly KeyConditionExpression?: string
}
type BatchOfWrites = readonly { readonly PutRequest?: ItemRequest; readonly DeleteRequest?: ItemRequest }[]
type BatchOfReads = { readonly Keys?: readonly Attributes[]; readonly ProjectionExpression?: string }
type Request = ItemRequest & {
  readonly TransactItems?: readonly Readonly<Record<string, ItemRequest>>[]
  readonly ClientRequestToken?: string
  readonly RequestItems?: Readonly<Record<string, BatchOfWrites | BatchOfReads>>
}

/**
 * Limits of DynamoDB: bytes of a transaction, actions per transaction, characters of an idempotency token, bytes of the keys `pk` and `sk`,
 * nesting depth of a value.
 */
const MAX = {
  transaction: 4 * 2 ** 20,
  actions: 100,
  token: 36,
  pk: 2048,
  sk: 1024,
  nesting: 31,
}

/** Returns an item's size in bytes, as DynamoDB counts it. */
export function itemSize(item: object): number {
  const text = JSON.stringify(item)
  const bytes = Buffer.from(text)
  // The text is decoded as latin1, where each byte is one character, so that counting characters counts bytes.
  return sizeInCharacters(bytes.length === text.length ? item : JSON.parse(bytes.toString('latin1')))
}

const sizeInCharacters = db.sizeInCharacters ?? db.itemSize

/** Makes dynalite measure items in bytes for its limit of 400 KB. dynalite itself counts characters. */
export function measureItemsInBytes(): void {
  Object.assign(db, { itemSize, sizeInCharacters })
}

/**
 * Returns DynamoDB's error for a request that exceeds a limit of DynamoDB but not of dynalite; undefined if there is none. Each character
 * of `text` stands for one byte. Does not check the size of items after an update. Source:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
export function findLimitError(text: string): string | undefined {
  const request: Request = JSON.parse(text)
  const { TransactItems: actions, ClientRequestToken: token } = request
  if (actions) {
    const excess =
      (token !== undefined && findInLength('clientRequestToken', token, token.length, MAX.token)) ||
      findInLength('transactItems', `[${actions.map(() => 'TransactWriteItem')}]`, actions.length, MAX.actions)
    if (excess) return excess
  }
  for (const part of partsOf(request)) {
    const excess = findInValues(part) ?? findInExpressions(part) ?? findInKeys(part)
    if (excess !== undefined) return excess
  }
  return undefined
}

/**
 * Returns an error if the items of a transaction, with these sizes in bytes, exceed 4 MB; otherwise undefined. DynamoDB documents the
 * limit, but neither its message nor its counting. An item counts with its size after a write, or before a deletion.
 */
export function findItemsLimitError(sizes: readonly number[]): string | undefined {
  const sum = sizes.reduce((left, right) => left + right, 0)
  return sum > MAX.transaction ? 'The items of the transaction have more than 4 MB' : undefined
}

function findInLength(name: string, value: string, length: number, most: number): string | undefined {
  if (length > 0 && length <= most) return undefined
  const bound = length === 0 ? 'greater than or equal to 1' : `less than or equal to ${most}`
  const parameter = `Value '${value}' at '${name}'`
  return `1 validation error detected: ${parameter} failed to satisfy constraint: Member must have length ${bound}`
}

function partsOf({ TransactItems: actions, RequestItems: batches, ...request }: Request): readonly ItemRequest[] {
  if (actions) return actions.flatMap((action) => Object.values(action))
  if (!batches) return [request]
  return Object.values(batches).flatMap((batch): readonly ItemRequest[] => {
    if ('map' in batch) return batch.map(({ PutRequest: put, DeleteRequest: deletion }) => put ?? deletion ?? {})
    const { Keys: keys = [], ...read } = batch
    return [read, ...keys.map((Key) => ({ Key }))]
  })
}

function findInValues({ Item: item = {}, ExpressionAttributeValues: values = {} }: ItemRequest): string | undefined {
  const isDeep = (value: Value) => nestingOf(value) > MAX.nesting
  return Object.values(item).some(isDeep) || Object.values(values).some(isDeep)
    ? 'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit'
    : undefined
}

function nestingOf({ L: list, M: map }: Value): number {
  const inner = list ?? (map && Object.values(map))
  return inner ? 1 + Math.max(0, ...inner.map(nestingOf)) : 0
}

function findInExpressions(part: ItemRequest): string | undefined {
  for (const [name, expression] of Object.entries(part)) {
    if (!name.endsWith('Expression') || typeof expression !== 'string') continue
    const excess = findExpressionLimitError(name, expression)
    if (excess !== undefined) return excess
  }
  return undefined
}

function findInKeys(part: ItemRequest): string | undefined {
  const { Item: item, Key: key = item, KeyConditionExpression: condition = '' } = part
  const values = part.ExpressionAttributeValues ?? {}
  const keyConditions = [...condition.matchAll(/(pk = )?(:\w+)/g)].map(
    ([, isPartition, value = '']) => [isPartition ? 'pk' : 'sk', values[value]] as const,
  )
  for (const [name, value] of [...keyConditions, ['pk', key?.['pk']] as const, ['sk', key?.['sk']] as const]) {
    const length = value?.S?.length
    if (length === 0) {
      const problem = `The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`
      return `One or more parameter values are not valid. ${problem}`
    }
    if (length !== undefined && length > MAX[name]) {
      const keySize = name === 'pk' ? 'Size of hashkey' : 'Aggregated size of all range keys'
      return `One or more parameter values were invalid: ${keySize} has exceeded the size limit of ${MAX[name]} bytes`
    }
  }
  return undefined
}
