import { isAddress, isHash } from 'viem'
import * as z from 'zod'

/** Something that the sandbox is told to do. */
export type Control = {
  /** What it does, in one line. */
  readonly does: string
  /** A body that it takes. */
  readonly example: object
  /** Does it, and resolves to what it tells; throws a `ZodError` for a body that does not fit. */
  readonly run: (body: unknown) => Promise<unknown>
}

/** A control whose body fits this schema. */
export function control<Schema extends z.ZodType>(
  does: string,
  schema: Schema,
  example: z.input<Schema> & object,
  work: (body: z.output<Schema>) => unknown,
): Control {
  return { does, example, run: async (body) => work(schema.parse(body)) }
}

/** An address in any case. */
export const AnyAddress = z.string().refine((text) => isAddress(text), 'must be an address')

/** A transaction's hash. */
export const AnyHash = z.string().refine((text) => isHash(text), 'must be a transaction hash')

/** An amount in the smallest unit, as a string of digits. */
export const Digits = z
  .string()
  .regex(/^\d{1,78}$/, 'must be digits')
  .transform(BigInt)

/** For how long. */
export const Seconds = z.strictObject({ seconds: z.int().min(1).max(10_000_000) })
