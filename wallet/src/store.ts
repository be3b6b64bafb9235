import { useSyncExternalStore } from 'react'

/** A value that parts of the page share, and that outlives them. */
export type Store<Value> = {
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

/** A store that a reload does not empty: kept as JSON in the browser's storage under this name. */
export function createStoredStore<Value>(storage: Storage, name: string, initial: Value): Store<Value> {
  const store = createStore<Value>(parse(storage.getItem(name)) ?? initial)
  // What another tab has written.
  window.addEventListener('storage', ({ key, storageArea }) => {
    if (key === name && storageArea === storage) store.set(parse(storage.getItem(name)) ?? initial)
  })
  store.subscribe(() => {
    const value = store.get()
    if (value === undefined) storage.removeItem(name)
    else storage.setItem(name, JSON.stringify(value))
  })
  return store
}

/** The value of a store; the component renders again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  return useSyncExternalStore(store.subscribe, store.get)
}

function parse(text: string | null) {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
