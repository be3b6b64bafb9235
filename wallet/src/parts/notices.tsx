import type { AmountTokens } from '@vaultline/client/messages'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { formatDuration } from '../format.ts'
import { computeRetryPause, describeProblem } from '../problems.ts'
import { CopyButton } from './copy-button.tsx'

type Action = { readonly text: string } & ({ readonly href: string } | { readonly onClick: () => void })

type EmptyProps = {
  readonly title: string
  readonly children?: ReactNode
  readonly action?: Action
  readonly isWholePage?: boolean
}

/** Message for a list or page without content, with the first action that fills it. */
export function EmptyNotice({ title, children, action, isWholePage = false }: EmptyProps) {
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
  /** Id of the failed request, used if the error itself has none. */
  readonly requestId?: string | undefined
  /** Tokens of the failed request. Some errors name a valid amount, which the text shows only if its token is given. */
  readonly tokens?: AmountTokens | undefined
  /** Repeats the failed query for the user. Temporary errors are also retried automatically. */
  readonly onRetry?: () => void
}

/** Shows an error in the user's words, with a button to try again. */
export function ProblemNotice({ error, requestId: fallbackRequestId, tokens, onRetry }: ProblemNoticeProps) {
  const { text, requestId = fallbackRequestId } = describeProblem(error, tokens)
  const pause = onRetry && computeRetryPause(error)
  return (
    <div className="notice bad" role="alert">
      <p>
        {text}
        {pause !== undefined && ` We try again in ${formatDuration(pause)}.`}
      </p>
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

/** Shows a warning, which screen readers announce. */
export function Warning({ children }: { children: ReactNode }) {
  return (
    <div className="notice warn" role="status">
      <p>{children}</p>
    </div>
  )
}

/** Lists the reasons why data is missing. `nameOf` returns the name of what is missing, such as a chain. */
export function MissingData({
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
