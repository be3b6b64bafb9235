import { type Address, isAddress, isHash } from 'viem'
import * as z from 'zod'
import { evmChain } from '../../lib/chain/registry.ts'
import type { LocalChain } from '../chains.ts'
import { callRpc } from '../rpc.ts'

/** Something that a control has switched on, in words, and the control that ends it. */
export type Switched = { readonly what: string; readonly end: { readonly name: string; readonly body: object } }

/** Something that the sandbox is told to do. */
export type Control = {
  /** One sentence: what happens, and what the wallet or the API then shows. */
  readonly does: string
  /** True if the room has no form for it, such as for the end of another control. */
  readonly isJsonOnly?: true
  /** A body that it takes. */
  readonly example: object
  /** The JSON schema of its bodies. A property with `choices` has one of the choices of that name; `none` labels no choice. */
  readonly schema: object
  /** The parts of it that are on now. */
  readonly listOn: () => readonly Switched[]
  /** Does it, and resolves to what it tells; throws a `ZodError` for a body that does not fit. */
  readonly run: (body: unknown) => Promise<unknown>
}

/** A control whose body fits this schema; `listOn` for one that switches something on. */
export function control<Schema extends z.ZodType>(
  does: string,
  schema: Schema,
  example: z.input<Schema> & object,
  work: (body: z.output<Schema>) => unknown,
  listOn: Control['listOn'] = () => [],
): Control {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, { io: 'input' })
  return { does, example, schema: jsonSchema, listOn, run: async (body) => work(schema.parse(body)) }
}

/** The same control without a form in the room. */
export function jsonOnly(control: Control): Control {
  return { ...control, isJsonOnly: true }
}

const AnyAddress = z.string().refine((text) => isAddress(text), 'must be an address')

/** The address of an account, in any case. */
export const Account = AnyAddress.meta({ title: 'Account', choices: 'accounts' })

/** The address of a vault, in any case. */
export const VaultAddress = AnyAddress.meta({ title: 'Vault', choices: 'vaults', none: 'All vaults' })

/** The address of a token, in any case. */
export const TokenAddress = AnyAddress.meta({ title: 'Token', choices: 'tokens' })

/** The hash of a transaction that sent a transfer. */
export const TransferHash = z
  .string()
  .refine((text) => isHash(text), 'must be a transaction hash')
  .meta({ title: 'Transfer', choices: 'transfers', none: 'All transfers' })

/** An amount in the smallest unit, as a string of digits. */
export const Digits = z
  .string()
  .regex(/^\d{1,78}$/, 'must be digits')
  .transform(BigInt)

/** For how long. */
export const Seconds = z.strictObject({ seconds: z.int().min(1).max(10_000_000) })

/** Throws if there is no contract at a token's address. */
export async function requireToken(chain: LocalChain, token: Address): Promise<void> {
  const [code] = await callRpc(chain, [{ method: 'eth_getCode', params: [token, 'latest'] }])
  if (code === '0x') throw new Error(`There is no token ${token} on chain ${chain.chainId}`)
}

/** The name of a chain. */
export function chainName(chainId: number): string {
  return evmChain(chainId)?.name ?? `Chain ${chainId}`
}
