import type { TimelineStep } from '../activity.ts'
import { chainName } from '../chains.ts'
import { formatDateTime } from '../format.ts'
import { Amount } from './figures.tsx'
import { Hash } from './tokens.tsx'

type StepsProps = {
  readonly steps: readonly TimelineStep[]
  /** True if the steps are on two chains, so that each step names its chain. */
  readonly isAcross: boolean
}

/** Lists steps in order, each with its time, amount and transaction. */
export function Steps({ steps, isAcross }: StepsProps) {
  return (
    <ol className="timeline">
      {steps.map(({ text, state, chainId, at, hash, amount, notes }, index) => (
        <li key={index} className={state} aria-current={state === 'now' ? 'step' : undefined}>
          <span className="event">
            <span>
              {text}
              {isAcross && ` on ${chainName(chainId)}`}
              {state === 'todo' && <span className="hidden"> (to come)</span>}
            </span>
            {amount && <Amount {...amount} />}
          </span>
          {notes?.map((note) => (
            <span key={note} className="fine">
              {note}
            </span>
          ))}
          {(at || hash) && (
            <span className="fine event">
              {at && <span>{formatDateTime(at)}</span>}
              {hash && <Hash value={hash} chainId={chainId} />}
            </span>
          )}
        </li>
      ))}
    </ol>
  )
}
