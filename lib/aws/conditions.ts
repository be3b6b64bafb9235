/** Name of a DynamoDB attribute, or the path to a nested attribute. */
export type AttributePath = string | readonly [string, ...string[]]

/** Condition on a DynamoDB item. If its attribute does not exist, only `missing` and `<>` are true. */
export type Condition =
  | { readonly test: 'exists' | 'missing'; readonly path: AttributePath }
  | { readonly test: Comparison; readonly path: AttributePath; readonly value: unknown }
  /** Compares the number of elements of a set, map or list, or the length of a text. */
  | { readonly test: 'size'; readonly path: AttributePath; readonly is: Comparison; readonly value: number }
  | { readonly test: 'beginsWith'; readonly path: AttributePath; readonly value: string }
  | { readonly test: 'all' | 'any'; readonly conditions: readonly Condition[] }

/** Comparison of an attribute with a value. If their types differ, only `<>` is true. */
export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>='

/** Condition that the attribute exists. */
export const exists = (path: AttributePath): Condition => ({ test: 'exists', path })

/** Condition that the attribute does not exist. */
export const missing = (path: AttributePath): Condition => ({ test: 'missing', path })

/** Condition that compares an attribute with a value. */
export const is = (path: AttributePath, test: Comparison, value: unknown): Condition => ({ test, path, value })

/** Condition that compares the size of an attribute with a number. */
export const sizeIs = (path: AttributePath, comparison: Comparison, value: number): Condition => ({
  test: 'size',
  path,
  is: comparison,
  value,
})

/** Condition that the attribute's text begins with the value. */
export const beginsWith = (path: AttributePath, value: string): Condition => ({ test: 'beginsWith', path, value })

/** Condition that all of these conditions are true. */
export const all = (...conditions: readonly Condition[]): Condition => ({ test: 'all', conditions })

/** Condition that at least one of these conditions is true. */
export const any = (...conditions: readonly Condition[]): Condition => ({ test: 'any', conditions })

/** Change of one attribute in a DynamoDB update. All changes of one update see the item as it was before the update. */
export type Change =
  | { readonly do: 'set' | 'setOnce'; readonly path: AttributePath; readonly value: unknown }
  | { readonly do: 'remove'; readonly path: AttributePath }
  | { readonly do: 'add'; readonly path: string; readonly value: number | ReadonlySet<string> }
  | { readonly do: 'take'; readonly path: string; readonly value: ReadonlySet<string> }

/** Change that sets an attribute. */
export const set = (path: AttributePath, value: unknown): Change => ({ do: 'set', path, value })

/** Change that sets an attribute only if it does not exist yet. */
export const setOnce = (path: AttributePath, value: unknown): Change => ({ do: 'setOnce', path, value })

/** Change that removes an attribute. */
export const remove = (path: AttributePath): Change => ({ do: 'remove', path })

/** Change that adds elements to an attribute that is a set of texts. DynamoDB creates a missing set. */
export const addElements = (path: string, ...elements: readonly string[]): Change => ({
  do: 'add',
  path,
  value: new Set(elements),
})

/** Change that removes elements from an attribute that is a set of texts. DynamoDB deletes a set that becomes empty. */
export const removeElements = (path: string, ...elements: readonly string[]): Change => ({
  do: 'take',
  path,
  value: new Set(elements),
})
