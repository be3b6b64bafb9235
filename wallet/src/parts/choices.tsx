type ChoicesProps<Value extends string> = {
  readonly label: string
  /** Options with their texts; a title explains a short text. */
  readonly options: readonly { readonly value: Value; readonly text: string; readonly title?: string }[]
  readonly value: Value
  readonly onChoose: (value: Value) => void
}

/** Shows a few options side by side, of which exactly one is chosen. */
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
