import { useEffect, useState } from 'react'

/** Returns a text once it has not changed for this many milliseconds. */
export function useDebounced(text: string, ms: number): string {
  const [rested, setRested] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), ms)
    return () => clearTimeout(timer)
  }, [text, ms])
  return rested
}
