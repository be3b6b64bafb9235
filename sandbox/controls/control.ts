import { type Address, isAddress, isHash } from 'viem'
import * as z from 'zod'
import { evmChain } from '../../lib/chain/registry.ts'
import type { LocalChain } from '../chains.ts'
import { callRpc } from '../rpc.ts'

/** An active change, in words, and the control that ends it. */
export type ActiveChange = { readonly what: string; readonly end: { readonly name: string; readonly body: object } }

/** An operation of the sandbox. */
export type Control = {
  /** One sentence: the effect, and what the wallet or the API then shows. */
  readonly does: string
  /** True if the room has no form for it. */
  readonly isJsonOnly?: true
  readonly example: object
  /** Schema of the body. `choices` names a list of allowed values; `none` labels an empty choice. */
  readonly schema: object
  readonly listOn: () => readonly ActiveChange[]
  /** Returns the result; throws a `ZodError` for an invalid body. */
  readonly run: (body: unknown) => Promise<unknown>
}

/** Returns a control with this body schema; one that switches something on needs `listOn`. */
export function buildControl<Schema extends z.ZodType>(
  does: string,
  schema: Schema,
  example: z.input<Schema> & object,
  work: (body: z.output<Schema>) => unknown,
  listOn: Control['listOn'] = () => [],
): Control {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, { io: 'input' })
  return { does, example, schema: jsonSchema, listOn, run: async (body) => work(schema.parse(body)) }
}

/** Returns the control without a form in the room. */
export function jsonOnly(control: Control): Control {
  return { ...control, isJsonOnly: true }
}

const AnyAddress = z.string().refine((text) => isAddress(text), 'must be an address')

/** Schema of an account's address, in any case. */
export const Account = AnyAddress.meta({ title: 'Account', choices: 'accounts' })

/** Schema of a vault's address, in any case. */
export const VaultAddress = AnyAddress.meta({ title: 'Vault', choices: 'vaults', none: 'All vaults' })

/** Schema of a token's address, in any case. */
export const TokenAddress = AnyAddress.meta({ title: 'Token', choices: 'tokens' })

/** Schema of the hash of a transaction that sent a transfer. */
export const TransferHash = z
  .string()
  .refine((text) => isHash(text), 'must be a transaction hash')
  .meta({ title: 'Transfer', choices: 'transfers', none: 'All transfers' })

/** Schema of an amount in the smallest unit, as a string of digits. */
export const Digits = z
  .string()
  .regex(/^\d{1,78}$/, 'must be digits')
  .transform(BigInt)

/** Schema of a duration in seconds. */
export const Seconds = z.strictObject({ seconds: z.int().min(1).max(10_000_000) })

/** Throws if there is no contract at a token's address. */
export async function requireToken(chain: LocalChain, token: Address): Promise<void> {
  const [code] = await callRpc(chain, [{ method: 'eth_getCode', params: [token, 'latest'] }])
  if (code === '0x') throw new Error(`There is no token ${token} on chain ${chain.chainId}`)
}

/** Returns the name of a chain. */
export function chainName(chainId: number): string {
  return evmChain(chainId)?.name ?? `Chain ${chainId}`
}
