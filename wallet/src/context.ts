import type { Client } from '@vaultline/client'
import { createContext, useContext } from 'react'
import type { Config } from './config.ts'
import { createStoredStore, useStore } from './store.ts'

type Surroundings = { readonly config: Config; readonly service: Client }

export const AppContext = createContext<Surroundings | undefined>(undefined)

/** Returns the API client and the configuration. Throws outside of the application's context provider. */
export function useAppContext(): Surroundings {
  const surroundings = useContext(AppContext)
  if (!surroundings) throw new Error('Nothing surrounds this component.')
  return surroundings
}

/** Returns the client of the Vaultline API. */
export function useService(): Client {
  return useAppContext().service
}

/** Currencies in which values can be shown. */
export const CURRENCIES = ['usd', 'eur', 'gbp', 'chf', 'jpy'] as const
type Currency = (typeof CURRENCIES)[number]

/** Currency in which values are shown; the browser remembers it. */
export const currencyStore = createStoredStore<Currency>(localStorage, 'vaultline.currency', {
  initial: 'usd',
  isValue: (value): value is Currency => CURRENCIES.some((one) => one === value),
})

export function useCurrency(): Currency {
  return useStore(currencyStore)
}
