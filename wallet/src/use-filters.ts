import { useSearchParams } from 'wouter'

/** Returns a list's filters from the URL, and a function that changes some of them. An empty text removes a filter. */
export function useFilters() {
  const [filters, setFilters] = useSearchParams()
  const choose = (changes: Readonly<Record<string, string>>) =>
    setFilters((before) => {
      const after = new URLSearchParams(before)
      for (const [name, value] of Object.entries(changes)) {
        if (value) after.set(name, value)
        else after.delete(name)
      }
      return after
    })
  return [filters, choose] as const
}
