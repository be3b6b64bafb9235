import { useEffect, useRef } from 'react'

/** For an element that takes the focus where a change of this value has removed what had it. */
export function useFocusKept<E extends HTMLElement>(value: unknown) {
  const element = useRef<E>(null)
  const before = useRef(value)
  useEffect(() => {
    if (before.current === value) return
    before.current = value
    if (document.activeElement === document.body) element.current?.focus()
  }, [value])
  return element
}
