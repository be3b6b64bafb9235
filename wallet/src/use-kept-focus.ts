import { useEffect, useRef } from 'react'

/** Returns a ref for an element. The element takes the focus if a change of `value` removed the focused element. */
export function useKeptFocus<E extends HTMLElement>(value: unknown) {
  const element = useRef<E>(null)
  const before = useRef(value)
  useEffect(() => {
    if (before.current === value) return
    before.current = value
    if (document.activeElement === document.body) element.current?.focus()
  }, [value])
  return element
}
