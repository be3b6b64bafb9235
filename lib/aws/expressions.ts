import type { AttributePath, Change, Condition } from './conditions.ts'
import type { KeyRange } from './requests.ts'

/** Creates the builder of one request's expressions. It replaces attribute names and values by placeholders, as DynamoDB requires. */
export function createExpressionBuilder() {
  const names = new Map<string, string>()
  const values: Record<string, unknown> = {}
  const nameOf = (name: string): string => {
    const known = names.get(name) ?? `#${names.size}`
    names.set(name, known)
    return known
  }
  const placeholderOf = (value: unknown): string => {
    const name = `:${Object.keys(values).length}`
    values[name] = value
    return name
  }
  const pathOf = (path: AttributePath): string => (typeof path === 'string' ? [path] : path).map(nameOf).join('.')

  /**
   * Builds a condition expression
   * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html).
   */
  function condition(of: Condition): string {
    switch (of.test) {
      case 'exists':
        return `attribute_exists(${pathOf(of.path)})`
      case 'missing':
        return `attribute_not_exists(${pathOf(of.path)})`
      case 'size':
        return `size(${pathOf(of.path)}) ${of.is} ${placeholderOf(of.value)}`
      case 'beginsWith':
        return `begins_with(${pathOf(of.path)}, ${placeholderOf(of.value)})`
      case 'all':
        return of.conditions.map(operand).join(' AND ')
      case 'any':
        return of.conditions.map(operand).join(' OR ')
      default:
        return `${pathOf(of.path)} ${of.test} ${placeholderOf(of.value)}`
    }
  }

  /** Builds a nested condition. It adds only necessary parentheses, because DynamoDB rejects redundant ones. */
  function operand(of: Condition): string {
    return (of.test === 'all' || of.test === 'any') && of.conditions.length > 1 ? `(${condition(of)})` : condition(of)
  }

  /** Builds an update expression (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html). */
  function update(changes: readonly Change[]): string {
    const clauses = Map.groupBy(changes, ({ do: verb }) => CLAUSES[verb])
    return [...clauses].map(([clause, of]) => `${clause} ${of.map(change).join(', ')}`).join(' ')
  }

  function change(of: Change): string {
    const path = pathOf(of.path)
    if (of.do === 'remove') return path
    const value = placeholderOf(of.value)
    if (of.do === 'set') return `${path} = ${value}`
    return of.do === 'setOnce' ? `${path} = if_not_exists(${path}, ${value})` : `${path} ${value}`
  }

  /** Builds a key condition (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html). */
  function keyCondition({ partition, from, to, prefix, index }: KeyRange): string {
    const partitionKey = `${nameOf(index?.partitionKey ?? 'pk')} = ${placeholderOf(partition)}`
    const sortKey = () => nameOf(index?.sortKey ?? 'sk')
    if (prefix !== undefined) return `${partitionKey} AND begins_with(${sortKey()}, ${placeholderOf(prefix)})`
    if (from !== undefined && to !== undefined) {
      return `${partitionKey} AND ${sortKey()} BETWEEN ${placeholderOf(from)} AND ${placeholderOf(to)}`
    }
    if (from !== undefined) return `${partitionKey} AND ${sortKey()} >= ${placeholderOf(from)}`
    return to === undefined ? partitionKey : `${partitionKey} AND ${sortKey()} <= ${placeholderOf(to)}`
  }

  return {
    condition,
    update,
    keyCondition,
    attributes: () => ({
      names: Object.fromEntries([...names].map(([name, placeholder]) => [placeholder, name])),
      values,
    }),
  }
}

const CLAUSES = { set: 'SET', setOnce: 'SET', remove: 'REMOVE', add: 'ADD', take: 'DELETE' } as const
