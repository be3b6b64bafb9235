import { useState } from 'react'
import { useSurroundings } from '../context.ts'
import { type Exchange, exchanges } from '../service.ts'
import { useStore } from '../store.ts'
import { CopyButton } from './copy-button.tsx'

/** What this page asked the service and what came back, each with its curl line. */
export function DeveloperDrawer() {
  const [isOpen, setOpen] = useState(false)
  const all = useStore(exchanges)
  return (
    <aside className="drawer" aria-label="Requests of this page">
      <button type="button" className="drawer-handle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Close' : `Requests (${all.length})`}
      </button>
      {isOpen && (
        <ol className="exchanges">
          {all.map((exchange) => (
            <ExchangeDetails key={`${exchange.startedAt} ${exchange.url}`} exchange={exchange} />
          ))}
        </ol>
      )}
    </aside>
  )
}

function ExchangeDetails({ exchange }: { exchange: Exchange }) {
  const { config } = useSurroundings()
  const { method, url, status, durationMs, answer, requestId } = exchange
  return (
    <li>
      <details>
        <summary>
          <span className={`chip ${status >= 200 && status < 300 ? 'good' : 'bad'}`}>{status || 'no answer'}</span>{' '}
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
