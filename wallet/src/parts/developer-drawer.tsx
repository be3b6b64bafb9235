import { useState } from 'react'
import { exchanges } from '../service.ts'
import { useStore } from '../store.ts'
import { useWebhookDeliveries } from '../use-events.ts'
import { ArrivalList, ExchangeList } from './exchanges.tsx'

/** Panel at the bottom of the window with the page's latest API requests and webhook events. */
export function DeveloperDrawer() {
  const [open, setOpen] = useState<'requests' | 'events'>()
  const all = useStore(exchanges)
  const arrivals = useWebhookDeliveries()
  const toggle = (which: typeof open) => setOpen(open === which ? undefined : which)
  return (
    <aside className={open ? 'drawer open' : 'drawer'} aria-label="Requests of this page">
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
      {open === 'requests' && <ExchangeList exchanges={all} />}
      {open === 'events' && arrivals && <ArrivalList arrivals={arrivals} />}
    </aside>
  )
}
