import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import {
  CredentialChallenge,
  LoginChallenge,
  Recovery,
  Registration,
  WalletChallenge,
} from '../lib/accounts/challenges.ts'
import { Session } from '../lib/accounts/session.ts'
import { PasskeyIdClaim } from '../lib/accounts/store.ts'
import { User } from '../lib/accounts/user.ts'
import { OpenRequest, Snapshot } from '../lib/activity/open-requests.ts'
import { RecordedEvents } from '../lib/activity/recorded-events.ts'
import { VaultProgress } from '../lib/activity/store.ts'
import { DepositSource } from '../lib/bridge/deposit-source.ts'
import { Quote } from '../lib/bridge/quote.ts'
import { SourceHashRecord, Transfer } from '../lib/bridge/transfer.ts'
import { ApiKey } from '../lib/clients/client.ts'
import { ClientProfile } from '../lib/clients/store.ts'
import { VaultOnChain } from '../lib/protocols/vault-on-chain.ts'
import { VaultState } from '../lib/protocols/vault-state.ts'
import { ClaimsCursor, WatchedAccount } from '../lib/rewards/watched-store.ts'
import { Pin } from '../lib/vaults/pin.ts'
import { StoredPrice } from '../lib/vaults/price-store.ts'
import { Vault } from '../lib/vaults/vault.ts'
import { Attempts } from '../lib/webhooks/attempts.ts'
import { Head } from '../lib/webhooks/log-store.ts'
import { Webhook } from '../lib/webhooks/webhook.ts'

/**
 * Schemas of stored items. Cache items are excluded, because the service can fetch them again. Webhook events are excluded,
 * because the API defines their format.
 */
const ITEMS = {
  ...{ ApiKey, Profile: ClientProfile, Vault, VaultOnChain },
  ...{
    DepositSource,
    OpenRequest,
    Pin,
    Quote,
    RecordedEvents,
    Sent: SourceHashRecord,
    Snapshot,
    StoredPrice,
    Transfer,
  },
  ...{ VaultProgress, VaultState },
  ...{ ClaimsCursor, Watched: WatchedAccount },
  ...{
    Claim: PasskeyIdClaim,
    CredentialChallenge,
    LoginChallenge,
    Recovery,
    Registration,
    Session,
    User,
    WalletChallenge,
  },
  ...{ Attempts, Head, Webhook },
}
const FILE = new URL('./stored-items.json', import.meta.url)

/** Type of each stored field by its path: `string`, or `string?` if the field may be absent. */
type Forms = Readonly<Record<string, string>>

test('A version reads the last one’s items, and the last one reads its items', () => {
  const now = listForms(ITEMS)
  // The environment variable `ITEMS=write` stores the present fields in the file. Decision 0064 explains when to use
  // it.
  if (process.env['ITEMS'] === 'write') writeFileSync(FILE, `${JSON.stringify(now, null, 2)}\n`)
  const before: Forms = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(FILE, 'utf8')))
  expect(compare(before, now)).toEqual([])
  expect(now, 'Record the new fields: ITEMS=write npx vitest run test/stored-items.test.ts').toEqual(before)
})

test('An item may have a new field that may be absent, and a new word', () => {
  const before = listForms({ Item: z.object({ kind: z.enum(['a']), request: z.object({ by: z.string() }) }) })
  const now = listForms({
    Item: z.object({
      kind: z.enum(['a', 'b']),
      request: z.object({ by: z.string().optional() }),
      more: z.object({ since: z.number() }).optional(),
    }),
  })
  expect(compare(before, now)).toEqual([])
})

test('A field that is immediately required, removed or changed in form is refused with the rule', () => {
  const before = listForms({ Item: z.object({ name: z.string(), old: z.string(), kind: z.enum(['a', 'b']) }) })
  const now = listForms({ Item: z.object({ name: z.number(), added: z.string(), kind: z.enum(['a']) }) })
  expect(compare(before, now)).toEqual([
    'Item.added is needed at once: let it be absent first, write it a release later, need it after all items have it (0064).',
    'Item.kind was a|b and is a: a new meaning gets a new name (0064).',
    'Item.name was string and is number: a new meaning gets a new name (0064).',
    'Item.old is gone: take it away a release after no reader needs it, and then record that: ITEMS=write (0064).',
  ])
})

/** Returns one sentence for each change of stored fields that breaks a deployment or its rollback. */
function compare(before: Forms, now: Forms): string[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].toSorted()
  return paths.flatMap((path) => {
    const [was, is] = [before[path], now[path]]
    if (is === undefined)
      return `${path} is gone: take it away a release after no reader needs it, and then record that: ITEMS=write (0064).`
    const isNeeded = !is.endsWith('?')
    // A required field of a new optional object is allowed, because older items lack the whole object.
    const isNew = was === undefined && before[path.replace(/\.\w+$/, '')] !== undefined && /\.\w+$/.test(path)
    if (isNeeded && (isNew || was?.endsWith('?')))
      return `${path} is needed at once: let it be absent first, write it a release later, need it after all items have it (0064).`
    if (was === undefined || covers(is.replace('?', ''), was.replace('?', ''))) return []
    return `${path} was ${was} and is ${is}: a new meaning gets a new name (0064).`
  })
}

/** Returns true if code that reads the type `form` also reads `other`: it accepts every alternative of `other`. */
function covers(form: string, other: string): boolean {
  const words = new Set(form.split('|'))
  return other.split('|').every((word) => words.has(word))
}

type JsonSchema = z.core.JSONSchema.BaseSchema

function listForms(items: Readonly<Record<string, z.ZodType>>): Forms {
  const forms = Object.entries(items).flatMap(([name, codec]) => {
    // The JSON schema describes a codec's stored form. Bytes and sets have no JSON form, so their type is `any`.
    const schema = z.toJSONSchema(codec, { io: 'input', unrepresentable: 'any' })
    return walk(schema, name, '', schema.$defs ?? {})
  })
  return Object.fromEntries(forms.toSorted(([left], [right]) => (left < right ? -1 : 1)))
}

/**
 * Returns the types of this field and of all fields inside it. Path forms: objects `a.b`, arrays `a[]`, records `a{}`, variants
 * `a<word>`.
 */
function walk(
  schema: JsonSchema | boolean,
  path: string,
  mark: '' | '?',
  defs: Readonly<Record<string, JsonSchema>>,
): [string, string][] {
  if (typeof schema === 'boolean') return [[path, `any${mark}`]]
  const { $ref, type = 'any', format, properties, items, prefixItems, additionalProperties } = schema
  const ref = $ref?.split('/').at(-1)
  if (ref !== undefined) return walk(defs[ref] ?? {}, path, mark, defs)
  const own = (form: string): [string, string] => [path, `${form}${mark}`]
  const variants = schema.anyOf ?? schema.oneOf
  if (variants) {
    const parts = variants.flatMap((one, index) => walk(one, `${path}<${wordOf(one) ?? index}>`, '', defs))
    return [own('one of'), ...parts]
  }
  if (schema.allOf) return schema.allOf.flatMap((one) => walk(one, path, mark, defs))
  if (properties) {
    const needed = new Set(schema.required)
    const parts = Object.entries(properties).flatMap(([name, one]) =>
      walk(one, `${path}.${name}`, needed.has(name) ? '' : '?', defs),
    )
    return [own('object'), ...parts]
  }
  if (prefixItems)
    return [own('list'), ...prefixItems.flatMap((one, index) => walk(one, `${path}[${index}]`, '', defs))]
  if (items && !Array.isArray(items)) return [own('list'), ...walk(items, `${path}[]`, '', defs)]
  if (additionalProperties) return [own('record'), ...walk(additionalProperties, `${path}{}`, '', defs)]
  const words = schema.enum ?? ('const' in schema ? [schema.const] : undefined)
  return [own(words ? words.join('|') : [type, format].flat().filter(Boolean).join(' '))]
}

function wordOf({ properties = {}, type }: JsonSchema): string | undefined {
  for (const one of Object.values(properties)) {
    if (typeof one !== 'boolean' && typeof one.const === 'string') return one.const
  }
  return typeof type === 'string' && type !== 'object' ? type : undefined
}
