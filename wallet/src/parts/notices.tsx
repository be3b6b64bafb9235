import type { AmountTokens } from '@vaultline/client/messages'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { describeProblem } from '../problems.ts'
import { CopyButton } from './copy-button.tsx'

type Action = { readonly text: string } & ({ readonly href: string } | { readonly onClick: () => void })

type EmptyProps = {
  readonly title: string
  readonly children?: ReactNode
  readonly action?: Action
  /** True if the title is the page's heading. */
  readonly isWholePage?: boolean
}

/** A place with nothing in it yet, and the first act that changes that. */
export function Empty({ title, children, action, isWholePage = false }: EmptyProps) {
  const Heading = isWholePage ? 'h1' : 'h2'
  return (
    <section className="empty">
      <Heading>{title}</Heading>
      {children && <p>{children}</p>}
      {action && <ActionButton {...action} />}
    </section>
  )
}

function ActionButton(action: Action) {
  if ('href' in action) {
    return (
      <Link className="button" href={action.href}>
        {action.text}
      </Link>
    )
  }
  return (
    <button type="button" className="button" onClick={action.onClick}>
      {action.text}
    </button>
  )
}

type ProblemNoticeProps = {
  readonly error: unknown
  /** Of the request that came of it, where the error itself does not tell. */
  readonly requestId?: string | undefined
  /** What was asked for is counted in these. */
  readonly tokens?: AmountTokens | undefined
  readonly onRetry?: () => void
}

/** What went wrong, in the user's words, and another try. */
export function ProblemNotice({ error, requestId: asked, tokens, onRetry }: ProblemNoticeProps) {
  const { text, requestId = asked } = describeProblem(error, tokens)
  return (
    <div className="notice bad" role="alert">
      <p>{text}</p>
      {requestId && (
        <p className="fine">
          Request <code>{requestId}</code> <CopyButton text={requestId} what="the request's id" />
        </p>
      )}
      {onRetry && (
        <button type="button" className="button quiet" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Something that the user should know before going on. */
export function Warning({ children }: { children: ReactNode }) {
  return (
    <div className="notice warn" role="status">
      <p>{children}</p>
    </div>
  )
}

/** Which parts of what is shown are missing, and why: by chain, as the service tells it. */
export function Missing({
  errors,
  nameOf,
}: {
  errors: Readonly<Record<string, string>> | undefined
  nameOf: (key: string) => string
}) {
  const entries = Object.entries(errors ?? {})
  if (entries.length === 0) return null
  return (
    <div className="notice warn" role="status">
      {entries.map(([key, why]) => (
        <p key={key}>
          <strong>{nameOf(key)}:</strong> {why}
        </p>
      ))}
    </div>
  )
}
