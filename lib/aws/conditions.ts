/** Name of an attribute, or the path to a nested one. */
export type Path = string | readonly [string, ...string[]]

/** A condition on an item. A missing attribute fulfils only `missing` and `<>`. */
export type Condition =
  | { readonly test: 'exists' | 'missing'; readonly path: Path }
  | { readonly test: Comparison; readonly path: Path; readonly value: unknown }
  /** Compares the size of a set, map or list, or the length of a text. */
  | { readonly test: 'size'; readonly path: Path; readonly is: Comparison; readonly value: number }
  | { readonly test: 'beginsWith'; readonly path: Path; readonly value: string }
  | { readonly test: 'all' | 'any'; readonly conditions: readonly Condition[] }

/** Comparison of an attribute with a value. If their types differ, only `<>` holds. */
export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>='

/** Requires that the attribute exists. */
export const exists = (path: Path): Condition => ({ test: 'exists', path })

/** Requires that the attribute does not exist. */
export const missing = (path: Path): Condition => ({ test: 'missing', path })

/** Requires that this comparison of the attribute with the value holds. */
export const is = (path: Path, test: Comparison, value: unknown): Condition => ({ test, path, value })

/** Requires that this comparison of the attribute's size with the number holds. */
export const sizeIs = (path: Path, comparison: Comparison, value: number): Condition => ({
  test: 'size',
  path,
  is: comparison,
  value,
})

/** Requires that the text begins with the value. */
export const beginsWith = (path: Path, value: string): Condition => ({ test: 'beginsWith', path, value })

/** Requires all of these conditions. */
export const all = (...conditions: readonly Condition[]): Condition => ({ test: 'all', conditions })

/** Requires at least one of these conditions. */
export const any = (...conditions: readonly Condition[]): Condition => ({ test: 'any', conditions })

/** A change of one attribute. All changes of one update see the item as it was before the update. */
export type Change =
  | { readonly do: 'set' | 'setOnce'; readonly path: Path; readonly value: unknown }
  | { readonly do: 'remove'; readonly path: Path }
  | { readonly do: 'add'; readonly path: string; readonly value: number | ReadonlySet<string> }
  | { readonly do: 'take'; readonly path: string; readonly value: ReadonlySet<string> }

/** Sets an attribute. */
export const set = (path: Path, value: unknown): Change => ({ do: 'set', path, value })

/** Sets an attribute that does not exist yet. */
export const setOnce = (path: Path, value: unknown): Change => ({ do: 'setOnce', path, value })

/** Removes an attribute. */
export const remove = (path: Path): Change => ({ do: 'remove', path })

/** Adds elements to a set. */
export const add = (path: string, ...elements: readonly string[]): Change => ({
  do: 'add',
  path,
  value: new Set(elements),
})

/** Removes elements from a set; DynamoDB deletes a set that becomes empty. */
export const take = (path: string, ...elements: readonly string[]): Change => ({
  do: 'take',
  path,
  value: new Set(elements),
})
