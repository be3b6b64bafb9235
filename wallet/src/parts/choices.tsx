type ChoicesProps<Value extends string> = {
  /** What is chosen. */
  readonly label: string
  /** What stands on the button, and what it means where that is short. */
  readonly options: readonly { readonly value: Value; readonly text: string; readonly title?: string }[]
  readonly value: Value
  readonly onChoose: (value: Value) => void
}

/** One of few, all of them in sight. */
export function Choices<Value extends string>({ label, options, value, onChoose }: ChoicesProps<Value>) {
  return (
    <fieldset className="choices">
      <legend className="hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value} title={option.title}>
          <input
            type="radio"
            name={label}
            aria-label={option.title ?? option.text}
            checked={option.value === value}
            onChange={() => onChoose(option.value)}
          />
          {option.text}
        </label>
      ))}
    </fieldset>
  )
}
