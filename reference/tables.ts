import type * as z from 'zod'
import { type JsonSchema, jsonSchema } from './openapi.ts'

/** Formats the fields of a schema, nested ones included, as the lines of a Markdown table; returns no lines if there are no fields. */
export function fieldTable(schema: z.ZodType | undefined): string[] {
  if (!schema) return []
  const { $defs = {}, ...own } = jsonSchema(schema)
  const rows = fields(inPlace(own, $defs), '')
  if (rows.length === 0) return []
  return [['| Field | Type | Meaning |', '|---|---|---|', ...rows].join('\n')]
}

/** Returns the schema with each `$ref` replaced by its definition. */
function inPlace(schema: JsonSchema, named: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const text = JSON.stringify(schema, (_, part) => {
    const name = typeof part?.$ref === 'string' ? part.$ref.replace('#/$defs/', '') : undefined
    const { $ref: _ref, ...besides } = part ?? {}
    return name === undefined ? part : { ...named[name], ...besides }
  })
  return JSON.parse(text)
}

function fields(schema: z.core.JSONSchema._JSONSchema, prefix: string): string[] {
  if (typeof schema === 'boolean') return []
  const { properties = {}, required = [], allOf, anyOf, oneOf, discriminator } = schema
  // A union with a discriminator has no rows, because each of its variants has a table of its own.
  if (discriminator) return []
  if (allOf) return allOf.flatMap((part) => fields(part, prefix))
  const tagged = oneOf && variantsByTag(oneOf, prefix)
  if (tagged) return tagged
  const variants = [...(anyOf ?? []), ...(oneOf ?? [])].flatMap((variant) => fields(variant, prefix))
  if (variants.length > 0) return [...new Set(variants)]
  return Object.entries(properties).flatMap(([name, property]) => {
    if (typeof property === 'boolean') return []
    const optional = property.default === undefined ? 'optional' : `optional, default \`${property.default}\``
    const note = [required.includes(name) ? '' : optional, property.description ?? ''].filter(Boolean).join('. ')
    const path = `${prefix}${name}`
    return [`| \`${path}\` | ${typeOf(property)} | ${note} |`, ...fieldsWithin(property, path)]
  })
}

/**
 * Returns the rows of a union's variants. Each variant's rows follow the value of the field that distinguishes the
 * variants. Returns undefined if there is no such field.
 */
function variantsByTag(oneOf: readonly z.core.JSONSchema._JSONSchema[], prefix: string): string[] | undefined {
  const variants = oneOf.map((variant) => (typeof variant === 'boolean' ? {} : variant))
  const tagOf = ({ properties = {} }: z.core.JSONSchema.BaseSchema, name: string) => {
    const { [name]: property = true, ...others } = properties
    return typeof property === 'object' && (property.const ?? property.enum) !== undefined
      ? { property, others }
      : undefined
  }
  const name = Object.keys(variants[0]?.properties ?? {}).find((each) =>
    variants.every((variant) => tagOf(variant, each)),
  )
  if (name === undefined) return undefined
  const found = variants.flatMap((variant) => {
    const tag = tagOf(variant, name)
    return tag ? [{ variant, ...tag }] : []
  })
  const path = `${prefix}${name}`
  return [
    `| \`${path}\` | ${typeOf({ anyOf: found.map(({ property }) => property) })} |  |`,
    ...found.flatMap(({ variant, property, others }) => {
      const rows = fields({ ...variant, properties: others }, prefix)
      return rows.length > 0 ? [`| _where \`${path}\` is ${typeOf(property)}:_ | | |`, ...rows] : []
    }),
  ]
}

/** Returns the rows of the fields of an object, of a list's elements, or of a record's values. */
function fieldsWithin(schema: z.core.JSONSchema._JSONSchema, path: string): string[] {
  if (typeof schema === 'boolean') return []
  const { items, properties, additionalProperties } = schema
  if (items && !Array.isArray(items)) return fieldsWithin(items, `${path}[]`)
  if (!properties && typeof additionalProperties === 'object')
    return fieldsWithin(additionalProperties, `${path}.<key>`)
  return fields(schema, `${path}.`)
}

function typeOf(schema: z.core.JSONSchema.BaseSchema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ')
  if (schema['discriminator']) return '[event](events.md)'
  if (schema.type === 'array' && typeof schema.items === 'object' && !Array.isArray(schema.items)) {
    const { enum: values, discriminator } = schema.items
    if (values ?? discriminator) return `array of ${typeOf(schema.items)}`
  }
  const variants = (schema.anyOf ?? schema.oneOf)?.filter((variant) => typeof variant !== 'boolean')
  if (variants) return [...new Set(variants.map(typeOf))].join(' or ')
  return [schema.type ?? 'any'].flat().join(' or ')
}
