import { type Address, isAddress, isHash } from 'viem'
import * as z from 'zod'
import { evmChain } from '../../lib/chain/registry.ts'
import type { LocalChain } from '../chains.ts'
import { callRpc } from '../rpc.ts'

/** Change of the sandbox that is in effect, and the control that ends the change. */
export type ActiveChange = { readonly what: string; readonly end: { readonly name: string; readonly body: object } }

/** Operation that developers start on the sandbox's control page or by HTTP, such as pausing a vault. */
export type Control = {
  /** Description of the control for developers: its effect, and then what the wallet or the API shows. */
  readonly does: string
  /** True if the control page has no form for this control, so that developers must send JSON. */
  readonly isJsonOnly?: true
  readonly example: object
  /**
   * JSON Schema of the request body, with two extra keywords for the form. `choices` names a list of values to choose from. `none` is the
   * label of the empty choice.
   */
  readonly schema: object
  readonly listOn: () => readonly ActiveChange[]
  /** Executes the control and returns the result; throws a `ZodError` for an invalid body. */
  readonly run: (body: unknown) => Promise<unknown>
}

/**
 * Builds a control. `does` describes the effect, `schema` checks the request body, and `work` executes the control. `listOn` lists changes
 * that are still in effect; a control without lasting changes omits it.
 */
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

/** Schema of an account's address, in lower case or with checksum. */
export const Account = AnyAddress.meta({ title: 'Account', choices: 'accounts' })

/** Schema of a vault's address, in lower case or with checksum. */
export const VaultAddress = AnyAddress.meta({ title: 'Vault', choices: 'vaults', none: 'All vaults' })

/** Schema of a token's address, in lower case or with checksum. */
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
export const DurationBody = z.strictObject({ seconds: z.int().min(1).max(10_000_000) })

/** Throws if there is no contract at a token's address. */
export async function requireToken(chain: LocalChain, token: Address): Promise<void> {
  const [code] = await callRpc(chain, [{ method: 'eth_getCode', params: [token, 'latest'] }])
  if (code === '0x') throw new Error(`There is no token ${token} on chain ${chain.chainId}`)
}

/** Returns the name of a chain. */
export function chainName(chainId: number): string {
  return evmChain(chainId)?.name ?? `Chain ${chainId}`
}
