import { type Address, isAddress, isHash } from 'viem'
import * as z from 'zod'
import { evmChain } from '../../lib/chain/registry.ts'
import type { LocalChain } from '../chains.ts'
import { callRpc } from '../rpc.ts'

/** Description of a change that is in effect, and the control that ends it. */
export type ActiveChange = { readonly what: string; readonly end: { readonly name: string; readonly body: object } }

/** Control: an operation of the sandbox that developers can start. */
export type Control = {
  /** One sentence that describes the effect, and then what the wallet or the API shows. */
  readonly does: string
  /** True if the control page has no form for it, so that it can only be called with JSON. */
  readonly isJsonOnly?: true
  readonly example: object
  /** JSON Schema of the request body. `choices` names a list of allowed values; `none` is the label of an empty choice. */
  readonly schema: object
  readonly listOn: () => readonly ActiveChange[]
  /** Executes the control and returns the result; throws a `ZodError` for an invalid body. */
  readonly run: (body: unknown) => Promise<unknown>
}

/** Returns a control with this body schema. A control whose change lasts needs `listOn`, which lists the changes in effect. */
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

/** Returns the same control without a form on the control page. */
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

/** Schema of the hash of the transaction with which a bridge transfer began. */
export const TransferHash = z
  .string()
  .refine((text) => isHash(text), 'must be a transaction hash')
  .meta({ title: 'Transfer', choices: 'transfers', none: 'All transfers' })

/** Schema of an amount in the token's smallest unit, as a string of digits. */
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
