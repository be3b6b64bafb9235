import { useEffect, useRef, useState } from 'react'
import { useAppContext } from '../context.ts'
import { Choices } from '../parts/choices.tsx'
import { ArrivalList, ExchangeList } from '../parts/exchanges.tsx'
import { ProblemNotice } from '../parts/notices.tsx'
import { SkeletonRows } from '../parts/skeletons.tsx'
import { type ApiExchange, EXCHANGES_CHANNEL, exchanges, recordExchange } from '../service.ts'
import { useStore } from '../store.ts'
import { useWebhookDeliveries } from '../use-events.ts'
import { ActiveEffectNotice } from './active-effect-notice.tsx'
import { ControlForm } from './control-form.tsx'
import type { PreparedState, SandboxControls } from './room.ts'
import { useRoom } from './use-room.ts'

const STATES = 'Prepared states'

/** Page with the wallet beside the sandbox's controls, and with requests and events as they arrive. */
export function ControlRoom() {
  const { config } = useAppContext()
  const room = useRoom()
  const [shown, setShown] = useState<PreparedState>()
  const wallet = useRef<HTMLElement>(null)
  const all = useStore(exchanges)
  const arrivals = useWebhookDeliveries() ?? []
  useEffect(() => {
    const channel = new BroadcastChannel(EXCHANGES_CHANNEL)
    channel.onmessage = ({ data }: MessageEvent<ApiExchange>) => recordExchange(data)
    return () => channel.close()
  }, [])
  const show = (state: PreparedState | undefined) => {
    setShown(state)
    wallet.current?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <main className="room">
      <title>Control room · Vaultline</title>
      <header className="row spread">
        <div>
          <h1>Control room</h1>
          <p className="fine">Change the world that the wallet runs in, and see what it and the API make of it.</p>
        </div>
        <nav className="row fine" aria-label="More">
          <a href="/" target="_blank" rel="noreferrer">
            Wallet
          </a>
          <a href={`${config.apiUrl}/docs/`} target="_blank" rel="noreferrer">
            Docs
          </a>
        </nav>
      </header>
      <section className="room-wallet" aria-label="Wallet" ref={wallet}>
        {shown && (
          <p className="row spread fine">
            <span>
              State: <strong>{shown.name}</strong>
            </span>
            <button type="button" className="link" onClick={() => show(undefined)}>
              Back to your wallet
            </button>
          </p>
        )}
        {/* A new key creates a new iframe for each prepared state. The page reads its iframe's name only on loading. */}
        <iframe key={shown?.name} name={shown?.name ?? ''} src={shown?.page ?? '/'} title="The wallet" />
      </section>
      <section className="card room-controls" aria-label="Controls">
        {room.error && !room.data && <ProblemNotice error={room.error} onRetry={() => void room.refetch()} />}
        {!room.data && !room.error && <SkeletonRows />}
        {room.data && <Controls room={room.data} shown={shown} onShow={show} />}
      </section>
      <section className="room-feed" aria-labelledby="requests">
        <h2 id="requests">Requests</h2>
        <ExchangeList exchanges={all} />
      </section>
      <section className="room-feed" aria-labelledby="events">
        <h2 id="events">Events</h2>
        <ArrivalList arrivals={arrivals} />
      </section>
    </main>
  )
}

type ControlsProps = {
  readonly room: SandboxControls
  readonly shown: PreparedState | undefined
  readonly onShow: (state: PreparedState) => void
}

function Controls({ room: { controls, choices, states }, shown, onShow }: ControlsProps) {
  const groups = [...new Set(controls.flatMap(({ group }) => group ?? []))]
  const [group, setGroup] = useState(groups[0] ?? '')
  const options = [...groups, ...(states.length > 0 ? [STATES] : [])].map((value) => ({ value, text: value }))
  const elsewhere = controls.filter((control) => control.group !== group).flatMap(({ on }) => on)
  return (
    <>
      <Choices label="What to change" options={options} value={group} onChoose={setGroup} />
      {elsewhere.map((one) => (
        <ActiveEffectNotice key={one.what} switched={one} />
      ))}
      {group === STATES ? (
        <ul className="controls">
          {states.map((state) => (
            <li key={state.name} className="row spread">
              <div>
                <p className="sentence">
                  <strong>{state.name}</strong>
                </p>
                <p className="fine">{state.does}</p>
              </div>
              <button
                type="button"
                className="button quiet"
                aria-label={`Show: ${state.name}`}
                aria-pressed={state.name === shown?.name}
                onClick={() => onShow(state)}
              >
                Show
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <ul className="controls">
          {controls.flatMap((control) =>
            control.group === group ? [<ControlForm key={control.name} control={control} choices={choices} />] : [],
          )}
        </ul>
      )}
    </>
  )
}
