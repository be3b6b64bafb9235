import { type FormEvent, useId } from 'react'
import { ActiveEffectNotice } from './active-effect-notice.tsx'
import { buildBody, type Control, type Field, listFields, type SandboxControls, titleOf } from './room.ts'
import { useControl } from './use-room.ts'

/** Form of one sandbox control: its effect, its fields, its button, and the effects that it has switched on. */
export function ControlForm({ control, choices }: { control: Control; choices: SandboxControls['choices'] }) {
  const { name, does, on } = control
  const use = useControl()
  const fields = listFields(control, choices)
  const isImpossible = fields.some((field) => field.kind === 'select' && field.options.length === 0)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    use.mutate({ name, body: () => buildBody(fields, form) })
  }
  return (
    <li>
      <form className="control" onSubmit={submit} aria-label={titleOf(name)}>
        <p>
          {does}{' '}
          <span role="status">
            {isImpossible && <span className="chip">No transfer yet</span>}
            {use.isSuccess && <span className="chip good">Done</span>}
          </span>
        </p>
        <div className="row">
          {fields.map((field) => (
            <ControlField key={field.key} field={field} />
          ))}
          <button type="submit" className="button quiet" disabled={use.isPending || isImpossible}>
            {titleOf(name)}
          </button>
        </div>
        {use.error && (
          <p className="notice bad" role="alert">
            {use.error.message}
          </p>
        )}
        {on.map((one) => (
          <ActiveEffectNotice key={one.what} switched={one} />
        ))}
      </form>
    </li>
  )
}

function ControlField({ field }: { field: Field }) {
  const { key, label, kind } = field
  const id = useId()
  if (kind === 'checkbox') {
    return (
      <label className="row fine">
        <input type="checkbox" name={key} defaultChecked={field.initial} /> {label}
      </label>
    )
  }
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {kind === 'select' ? (
        <select id={id} name={key}>
          {field.options.map(({ label, value }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          name={key}
          defaultValue={field.initial}
          required={field.isRequired}
          {...(kind === 'number' ? { type: 'number', min: 0, step: 'any' } : { inputMode: 'text' })}
        />
      )}
    </div>
  )
}
