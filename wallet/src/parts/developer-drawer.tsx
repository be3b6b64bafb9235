import { useState } from 'react'
import { useSurroundings } from '../context.ts'
import type { Arrival } from '../events.ts'
import { type Exchange, exchanges } from '../service.ts'
import { useStore } from '../store.ts'
import { useArrivals } from '../use-events.ts'
import { CopyButton } from './copy-button.tsx'

/** What this page asked the service and what came back, each with its curl line, and what the service has told by itself. */
export function DeveloperDrawer() {
  const [open, setOpen] = useState<'requests' | 'events'>()
  const all = useStore(exchanges)
  const arrivals = useArrivals()
  const toggle = (which: typeof open) => setOpen(open === which ? undefined : which)
  return (
    <aside className="drawer" aria-label="Requests of this page">
      <button
        type="button"
        className="drawer-handle"
        aria-expanded={open === 'requests'}
        onClick={() => toggle('requests')}
      >
        {open === 'requests' ? 'Close' : `Requests (${all.length})`}
      </button>{' '}
      {arrivals && (
        <button
          type="button"
          className="drawer-handle"
          aria-expanded={open === 'events'}
          onClick={() => toggle('events')}
        >
          {open === 'events' ? 'Close' : `Events (${arrivals.length})`}
        </button>
      )}
      {open === 'requests' && (
        <ol className="exchanges">
          {all.map((exchange) => (
            <ExchangeDetails key={`${exchange.startedAt} ${exchange.url}`} exchange={exchange} />
          ))}
        </ol>
      )}
      {open === 'events' && (
        <ol className="exchanges">
          {arrivals?.map((arrival) => (
            <ArrivalDetails key={arrival.number} arrival={arrival} />
          ))}
          {arrivals?.length === 0 && <li className="fine">No events yet.</li>}
        </ol>
      )}
    </aside>
  )
}

function ArrivalDetails({ arrival }: { arrival: Arrival }) {
  const { id, attempt, status, isVerified, isTaken, delayMs, event } = arrival
  return (
    <li>
      <details>
        <summary>
          <span className={`chip ${isTaken ? 'good' : isVerified ? '' : 'bad'}`}>{status ?? 'no response'}</span>{' '}
          <code>{event?.type ?? 'no event'}</code>{' '}
          <span className="fine">
            {event && 'final' in event && `${event.final ? 'final' : 'not final yet'}, `}
            {delayMs !== null && `${(delayMs / 1000).toFixed(1)} s after it happened`}
          </span>
        </summary>
        <p className="fine">
          {id} · attempt {attempt} · {isVerified ? 'signature valid' : 'signature invalid'}
          {isVerified && !isTaken && ' · not taken'}
        </p>
        <pre>{JSON.stringify(event, null, 2)}</pre>
      </details>
    </li>
  )
}

function ExchangeDetails({ exchange }: { exchange: Exchange }) {
  const { config } = useSurroundings()
  const { method, url, status, durationMs, answer, requestId } = exchange
  return (
    <li>
      <details>
        <summary>
          <span className={`chip ${status >= 200 && status < 300 ? 'good' : 'bad'}`}>{status || 'no response'}</span>{' '}
          <code>
            {method} {url.replace(config.apiUrl, '')}
          </code>{' '}
          <span className="fine">{durationMs} ms</span>
        </summary>
        <p className="fine">
          <CopyButton text={toCurl(exchange, config.apiKey)} what="it as a curl command" /> as curl · request{' '}
          {requestId}
        </p>
        <pre>{pretty(answer)}</pre>
      </details>
    </li>
  )
}

/** The request as a command; a session stays out of it. */
function toCurl({ method, url, body }: Exchange, key: string): string {
  const parts = [`curl -s '${url}' -H 'x-join-key: ${key}'`]
  if (method !== 'GET') parts.push(`-X ${method}`)
  if (body) parts.push(`-H 'content-type: application/json' -d '${body.replaceAll("'", "'\\''")}'`)
  return parts.join(' ')
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
