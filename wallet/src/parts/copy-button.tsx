import { useEffect, useState } from 'react'

const SHOWN_MS = 1500

/** Button that copies a text; `what` names the text to screen readers. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <>
      <button
        type="button"
        className="copy"
        aria-label={`Copy ${what}`}
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
      <span className="hidden" role="status">
        {isCopied && 'Copied'}
      </span>
    </>
  )
}
