import { itemSize } from 'dynalite/db/index.js'

type Attributes = Readonly<Record<string, Value>>
/** A value as DynamoDB's wire has it, by its type. */
type Value = { readonly S?: string; readonly L?: readonly Value[]; readonly M?: Attributes }

/** What is asked of one item, or of those that are found. */
type Part = Readonly<Record<string, unknown>> & {
  readonly Item?: Attributes
  readonly Key?: Attributes
  readonly ExpressionAttributeValues?: Attributes
  readonly KeyConditionExpression?: string
}
type BatchOfWrites = readonly { readonly PutRequest?: Part; readonly DeleteRequest?: Part }[]
type BatchOfReads = { readonly Keys?: readonly Attributes[]; readonly ProjectionExpression?: string }
type Request = Part & {
  readonly TransactItems?: readonly Readonly<Record<string, Part>>[]
  readonly RequestItems?: Readonly<Record<string, BatchOfWrites | BatchOfReads>>
}

/** In bytes, but for the actions of a transaction, the operators of an expression, and the maps and lists around a value. */
const MOST = {
  item: 400 * 1024,
  transaction: 4 * 2 ** 20,
  actions: 100,
  pk: 2048,
  sk: 1024,
  expression: 4096,
  operators: 300,
  nesting: 31,
}

/**
 * Why DynamoDB refuses a request that dynalite takes, in DynamoDB's words; undefined where it does not. Each character of the
 * request stands for one byte of it. What an update makes of an item is not looked at.
 * Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
export function findExcess(text: string): string | undefined {
  const request: Request = JSON.parse(text)
  const { TransactItems: actions } = request
  if (actions && (actions.length === 0 || actions.length > MOST.actions)) {
    const bound = actions.length === 0 ? 'greater than or equal to 1' : `less than or equal to ${MOST.actions}`
    const found = `Value '[${actions.map(() => 'TransactWriteItem')}]' at 'transactItems'`
    return `1 validation error detected: ${found} failed to satisfy constraint: Member must have length ${bound}`
  }
  const parts = partsOf(request)
  for (const part of parts) {
    const excess = findInValues(part) ?? findInExpressions(part) ?? findInKeys(part)
    if (excess !== undefined) return excess
  }
  // An item has fewer bytes than its JSON.
  if (text.length <= MOST.item) return undefined
  const sizes = parts.map(({ Key: key = {}, Item: item = key }) => itemSize(item))
  if (sizes.some((size) => size > MOST.item)) return 'Item size has exceeded the maximum allowed size'
  const sum = sizes.reduce((left, right) => left + right, 0)
  return actions && sum > MOST.transaction ? 'The items of the transaction have more than 4 MB' : undefined
}

function partsOf({ TransactItems: actions, RequestItems: batches, ...request }: Request): readonly Part[] {
  if (actions) return actions.flatMap((action) => Object.values(action))
  if (!batches) return [request]
  return Object.values(batches).flatMap((batch): readonly Part[] => {
    if ('map' in batch) return batch.map(({ PutRequest: put, DeleteRequest: deletion }) => put ?? deletion ?? {})
    const { Keys: keys = [], ...read } = batch
    return [read, ...keys.map((Key) => ({ Key }))]
  })
}

function findInValues({ Item: item = {}, ExpressionAttributeValues: values = {} }: Part): string | undefined {
  const isDeep = (value: Value) => nestingOf(value) > MOST.nesting
  return Object.values(item).some(isDeep) || Object.values(values).some(isDeep)
    ? 'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit'
    : undefined
}

/** How many maps and lists are around the deepest value. */
function nestingOf({ L: list, M: map }: Value): number {
  const inner = list ?? (map && Object.values(map))
  return inner ? 1 + Math.max(0, ...inner.map(nestingOf)) : 0
}

const OPERATOR = /<>|[<>]=?|=|\b(?:AND|OR|NOT|BETWEEN)\b|\w+ ?(?=\()/gi
/** An update's assignments do not count. */
const UPDATE_OPERATOR = /[+-]|\w+ ?(?=\()/g

function findInExpressions(part: Part): string | undefined {
  for (const [name, expression] of Object.entries(part)) {
    if (!name.endsWith('Expression') || typeof expression !== 'string') continue
    const size = expression.length
    if (size > MOST.expression) {
      return `Invalid ${name}: Expression size has exceeded the maximum allowed size; expression size: ${size}`
    }
    const count = expression.match(name === 'UpdateExpression' ? UPDATE_OPERATOR : OPERATOR)?.length ?? 0
    if (count > MOST.operators) {
      return `Invalid ${name}: The expression contains too many operators; operator count: ${count}`
    }
  }
  return undefined
}

function findInKeys(part: Part): string | undefined {
  const { Item: item, Key: key = item, KeyConditionExpression: condition = '' } = part
  const values = part.ExpressionAttributeValues ?? {}
  const asked = [...condition.matchAll(/(pk = )?(:\w+)/g)].map(
    ([, isPartition, value = '']) => [isPartition ? 'pk' : 'sk', values[value]] as const,
  )
  for (const [name, value] of [...asked, ['pk', key?.['pk']] as const, ['sk', key?.['sk']] as const]) {
    const length = value?.S?.length
    if (length === 0) {
      const found = `The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`
      return `One or more parameter values are not valid. ${found}`
    }
    if (length !== undefined && length > MOST[name]) {
      const found = name === 'pk' ? 'Size of hashkey' : 'Aggregated size of all range keys'
      return `One or more parameter values were invalid: ${found} has exceeded the size limit of ${MOST[name]} bytes`
    }
  }
  return undefined
}
