import { useAppContext } from '../context.ts'
import type { WebhookDelivery } from '../events.ts'
import type { ApiExchange } from '../service.ts'
import { CopyButton } from './copy-button.tsx'

/** Lists API requests with their responses, each with a curl command that repeats it. */
export function ExchangeList({ exchanges }: { exchanges: readonly ApiExchange[] }) {
  return (
    <ol className="exchanges">
      {exchanges.map((exchange) => (
        <ExchangeDetails key={`${exchange.startedAt} ${exchange.url}`} exchange={exchange} />
      ))}
      {exchanges.length === 0 && <li className="fine">No requests yet.</li>}
    </ol>
  )
}

/** Lists deliveries of webhook events. */
export function ArrivalList({ arrivals }: { arrivals: readonly WebhookDelivery[] }) {
  return (
    <ol className="exchanges">
      {arrivals.map((arrival) => (
        <ArrivalDetails key={arrival.number} arrival={arrival} />
      ))}
      {arrivals.length === 0 && <li className="fine">No events yet.</li>}
    </ol>
  )
}

function ArrivalDetails({ arrival }: { arrival: WebhookDelivery }) {
  const { id, attempt, status, isVerified, isTaken, delayMs, event } = arrival
  return (
    <li>
      <details>
        <summary>
          <span className={`chip ${isTaken ? 'good' : isVerified && status === 204 ? '' : 'bad'}`}>
            {status ?? 'no response'}
          </span>{' '}
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

function ExchangeDetails({ exchange }: { exchange: ApiExchange }) {
  const { config } = useAppContext()
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

function toCurl({ method, url, body }: ApiExchange, key: string): string {
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
