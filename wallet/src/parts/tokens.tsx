import { type ReactNode, useState } from 'react'
import { chainName } from '../chains.ts'
import { useAppContext } from '../context.ts'
import { shorten } from '../format.ts'
import { CopyButton } from './copy-button.tsx'
import { findTokenIcon } from './token-marks.ts'

/**
 * Returns true if the picture comes from this page's host or is contained in the response. Pictures of other hosts are not fetched: the
 * requests would reveal the user's holdings.
 */
function isOwnPicture(url: string | null | undefined): url is string {
  return url !== null && url !== undefined && /^(data:image\/|\/)/.test(url)
}

type PictureProps = {
  readonly url: string | null | undefined
  readonly className: string
  readonly size: number
  readonly otherwise: ReactNode
}

/** Shows a decorative picture, or `otherwise` if it is missing or broken. */
export function Picture({ url, className, size, otherwise }: PictureProps) {
  const [isBroken, setBroken] = useState(false)
  if (!isOwnPicture(url) || isBroken) return otherwise
  const place = { className, width: size, height: size }
  return <img {...place} src={url} alt="" loading="lazy" onError={() => setBroken(true)} />
}

type TokenIconProps = {
  readonly symbol: string
  readonly url?: string | null | undefined
  /** False for a token that may have copied a known token's symbol. Such a token shows letters instead of an icon. */
  readonly isListed?: boolean
}

/** Shows a token's picture, else its drawn icon, else its first letters. */
export function TokenIcon({ symbol, url, isListed = true }: TokenIconProps) {
  return <Picture url={url} className="token-icon" size={36} otherwise={<Mark {...{ symbol, isListed }} />} />
}

function Mark({ symbol, isListed }: { symbol: string; isListed: boolean }) {
  const mark = isListed ? findTokenIcon(symbol) : undefined
  if (mark) {
    return (
      <svg className="token-icon mark" viewBox="0 0 36 36" aria-hidden="true">
        <circle cx="18" cy="18" r="18" fill={mark.color} />
        <path d={mark.path} stroke={mark.ink} />
      </svg>
    )
  }
  return (
    <span className="token-icon" style={{ '--hue': hueOf(symbol) } as React.CSSProperties} aria-hidden="true">
      {symbol.slice(0, 4).toUpperCase()}
    </span>
  )
}

/** Shows the name of a chain. */
export function ChainBadge({ chainId }: { chainId: number }) {
  return <span className="chip">{chainName(chainId)}</span>
}

type OnChainProps = {
  readonly value: string
  /** Name of the address for screen readers, such as "the vault's address". */
  readonly what: string
  readonly chainId?: number | undefined
}

/** Shows a shortened address, with a link to the chain's explorer and a button that copies it whole. */
export function Address(props: OnChainProps) {
  return <OnChain {...props} kind="address" />
}

/** Shows a shortened transaction hash, with a link to the chain's explorer and a button that copies it whole. */
export function Hash({ what = "the transaction's hash", ...props }: Omit<OnChainProps, 'what'> & { what?: string }) {
  return <OnChain {...props} what={what} kind="tx" />
}

function OnChain({ value, what, chainId, kind }: OnChainProps & { readonly kind: 'address' | 'tx' }) {
  const { chains } = useAppContext().config
  const explorer = chains.find((chain) => chain.chainId === chainId)?.explorerUrl
  const text = <code title={value}>{shorten(value)}</code>
  return (
    <span className="address">
      {explorer ? (
        <a
          href={`${explorer}/${kind}/${value}`}
          target="_blank"
          rel="noreferrer"
          aria-label={`See ${what} ${shorten(value)} in the explorer`}
        >
          {text}
        </a>
      ) : (
        text
      )}{' '}
      <CopyButton text={value} what={what} />
    </span>
  )
}

function hueOf(name: string): number {
  return [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7)
}
