import { type ReactNode, useState } from 'react'
import { chainName } from '../chains.ts'
import { shorten } from '../format.ts'
import { CopyButton } from './copy-button.tsx'

/**
 * Whether a picture comes with the page or in the answer itself. Those of other hosts are not asked for: who holds what is
 * nobody else's business.
 */
function isOwnPicture(url: string | null | undefined): url is string {
  return url !== null && url !== undefined && /^(data:image\/|\/)/.test(url)
}

type PictureProps = {
  readonly url: string | null | undefined
  readonly className: string
  /** In pixels, in both directions. */
  readonly size: number
  /** What stands there without a picture. */
  readonly otherwise: ReactNode
}

/** A picture that only decorates. */
export function Picture({ url, className, size, otherwise }: PictureProps) {
  const [isBroken, setBroken] = useState(false)
  if (!isOwnPicture(url) || isBroken) return otherwise
  const place = { className, width: size, height: size }
  return <img {...place} src={url} alt="" loading="lazy" onError={() => setBroken(true)} />
}

/** A token's picture, or its first letters where there is none. */
export function TokenIcon({ symbol, url }: { symbol: string; url?: string | null | undefined }) {
  const letters = (
    <span className="token-icon" style={{ '--hue': hueOf(symbol) } as React.CSSProperties} aria-hidden="true">
      {symbol.slice(0, 4).toUpperCase()}
    </span>
  )
  return <Picture url={url} className="token-icon" size={36} otherwise={letters} />
}

/** The chain that something is on. */
export function ChainBadge({ chainId }: { chainId: number }) {
  return <span className="chip">{chainName(chainId)}</span>
}

/** An address or a hash, shortened, to be copied whole; a link if there is a page about it. */
export function Address({ value, what, href }: { value: string; what: string; href?: string | undefined }) {
  const text = <code title={value}>{shorten(value)}</code>
  return (
    <span className="address">
      {href ? (
        <a href={href} target="_blank" rel="noreferrer">
          {text}
        </a>
      ) : (
        text
      )}{' '}
      <CopyButton text={value} what={what} />
    </span>
  )
}

/** A colour that is the same for the same name. */
function hueOf(name: string): number {
  return [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7)
}
