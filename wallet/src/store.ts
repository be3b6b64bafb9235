import { useSyncExternalStore } from 'react'

/** Value outside of React that several components share and can subscribe to. */
type Store<Value> = {
  get(): Value
  set(value: Value): void
  subscribe(listener: () => void): () => void
}

export function createStore<Value>(initial: Value): Store<Value> {
  const listeners = new Set<() => void>()
  let current = initial
  return {
    get: () => current,
    set(value) {
      current = value
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/**
 * Creates a store whose value survives a reload. The browser's storage keeps the value as JSON under this name, and tabs with the same
 * storage share the value. Invalid stored values are ignored.
 */
export function createStoredStore<Value>(
  storage: Storage,
  name: string,
  { initial, isValue }: { readonly initial: Value; readonly isValue: (stored: unknown) => stored is Value },
): Store<Value> {
  const read = () => {
    const stored = parseJson(storage.getItem(name))
    return isValue(stored) ? stored : initial
  }
  const store = createStore(read())
  window.addEventListener('storage', ({ key, storageArea }) => {
    if (key === name && storageArea === storage) store.set(read())
  })
  return {
    ...store,
    set(value) {
      store.set(value)
      try {
        if (value === undefined) storage.removeItem(name)
        else storage.setItem(name, JSON.stringify(value))
      } catch {
        // A full storage throws here. The page then keeps the value only in memory.
      }
    },
  }
}

/** Returns the value of a store; the component renders again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  return useSyncExternalStore(store.subscribe, store.get)
}

/** Returns true if a stored value is an object with these fields. */
export function hasFields(stored: unknown, ...names: readonly string[]): boolean {
  return typeof stored === 'object' && stored !== null && names.every((name) => name in stored)
}

function parseJson(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
