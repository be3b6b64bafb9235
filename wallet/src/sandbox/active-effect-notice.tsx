import type { ActiveEffect } from './room.ts'
import { useControl } from './use-room.ts'

/** Shows an effect that is switched on, with the button that ends it. */
export function ActiveEffectNotice({ switched: { what, end } }: { switched: ActiveEffect }) {
  const use = useControl()
  return (
    <div className="notice warn switched">
      <p>
        <strong>On:</strong> {what}
      </p>
      <button
        type="button"
        className="button quiet"
        aria-label={`End: ${what}`}
        disabled={use.isPending}
        onClick={() => use.mutate({ name: end.name, body: () => end.body })}
      >
        End
      </button>
      {use.error && <p role="alert">{use.error.message}</p>}
    </div>
  )
}
