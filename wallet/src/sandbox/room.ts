import { parseAmount } from '../format.ts'

/** Response of the sandbox's `GET /sandbox`: its controls and prepared states. */
export type SandboxControls = {
  readonly controls: readonly Control[]
  /** Choices for form fields, by the name that the controls' schemas use. */
  readonly choices: Readonly<Record<string, readonly Choice[]>>
  readonly states: readonly PreparedState[]
}

/** Effect of a control that is switched on, and the request that ends it. */
export type ActiveEffect = { readonly what: string; readonly end: { readonly name: string; readonly body: object } }

/** Control of the sandbox, which changes its chains or services on request. */
export type Control = {
  readonly name: string
  /** Heading under which the control's form appears; undefined for a control without a form. */
  readonly group?: string
  readonly does: string
  readonly schema: Schema
  readonly example: Readonly<Record<string, unknown>>
  readonly on: readonly ActiveEffect[]
}

/** Fixed example state of the sandbox's service, and the page where the wallet shows it. */
export type PreparedState = {
  readonly name: string
  readonly does: string
  readonly account?: `0x${string}`
  readonly apiKey: string
  readonly page: string
}

type Choice = { readonly label: string; readonly decimals?: number } & (
  | { readonly value: string | number }
  | { readonly body: object }
)

type Schema = {
  readonly properties?: Readonly<Record<string, Property>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly { readonly required: readonly string[] }[]
}
type Property = {
  readonly type: 'string' | 'number' | 'integer' | 'boolean'
  readonly enum?: readonly string[]
  readonly title?: string
  readonly choices?: string
  /** Label of the option that leaves an optional field out. */
  readonly none?: string
  readonly format?: string
}

/** Form field of a control. An option's `value` is JSON text: a part of the request body and, for a token, its decimals. */
export type Field = { readonly key: string; readonly label: string } & (
  | { readonly kind: 'select'; readonly options: readonly { readonly label: string; readonly value: string }[] }
  | { readonly kind: 'number' | 'amount' | 'text'; readonly initial: string; readonly isRequired: boolean }
  | { readonly kind: 'checkbox'; readonly initial: boolean }
)

/** Lists the form fields for a control's request body. It leaves out keys that the options of another field already fill. */
export function listFields({ schema, example }: Control, choices: SandboxControls['choices']): Field[] {
  const properties = Object.entries(schema.properties ?? {})
  const needed = new Set([...(schema.required ?? []), ...(schema.anyOf ?? []).flatMap(({ required }) => required)])
  const optionsOf = (key: string, property: Property) =>
    choices[property.choices ?? '']?.map((choice) => ({
      label: choice.label,
      part: 'body' in choice ? choice.body : { [key]: choice.value },
      decimals: choice.decimals,
    })) ?? property.enum?.map((value) => ({ label: value, part: { [key]: value }, decimals: undefined }))
  const filled = new Set(
    properties.flatMap(([key, property]) =>
      (optionsOf(key, property) ?? []).flatMap(({ part }) => Object.keys(part).filter((other) => other !== key)),
    ),
  )
  return properties.flatMap(([key, property]): Field[] => {
    if (filled.has(key)) return []
    const label = property.title ?? capitalize(key)
    const options = optionsOf(key, property)
    if (options) {
      // A field is required if any of its options fills a required key of the body. The other options need not fill
      // such a key: a chain's native coin has no token address.
      const isRequired = needed.has(key) || options.some(({ part }) => Object.keys(part).some((one) => needed.has(one)))
      return [
        {
          ...{ key, label, kind: 'select' },
          options: [
            ...(isRequired ? [] : [{ label: property.none ?? 'None', value: JSON.stringify({ part: {} }) }]),
            ...options.map(({ label, ...value }) => ({ label, value: JSON.stringify(value) })),
          ],
        },
      ]
    }
    if (property.type === 'boolean') return [{ key, label, kind: 'checkbox', initial: example[key] === true }]
    const kind = property.format === 'amount' ? 'amount' : property.type === 'string' ? 'text' : 'number'
    const initial = kind === 'amount' ? '100' : String(example[key] ?? '')
    return [{ key, label, kind, initial, isRequired: needed.has(key) }]
  })
}

/** Builds a control's request body from a filled form. Throws for an invalid amount. */
export function buildBody(fields: readonly Field[], form: FormData): object {
  const texts = fields.map((field) => ({ field, text: String(form.get(field.key) ?? '') }))
  const chosen = texts.flatMap(({ field, text }): { part: object; decimals?: number }[] =>
    field.kind === 'select' && text ? [JSON.parse(text)] : [],
  )
  const decimals = chosen.find((one) => one.decimals !== undefined)?.decimals ?? 0
  const typed = texts.flatMap(({ field: { key, kind }, text }): [string, unknown][] => {
    if (kind === 'checkbox') return [[key, form.has(key)]]
    if (kind === 'select' || text === '') return []
    if (kind === 'number') return [[key, Number(text)]]
    if (kind === 'text') return [[key, text]]
    const amount = parseAmount(text, decimals)
    if (amount === undefined) throw new Error(`${text} is not an amount of this token.`)
    return [[key, amount.toString()]]
  })
  return Object.assign({}, ...chosen.map(({ part }) => part), Object.fromEntries(typed))
}

/** Returns the text of a control's button: the last part of its name. */
export function titleOf(name: string): string {
  return capitalize(name.replace(/^.*\//, '').replaceAll('-', ' '))
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
