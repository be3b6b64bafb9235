// The schemas are written only from the published API document. Nothing here imports from lib/, so that mistakes there show.
import * as z from 'zod'

/** A token amount: an integer in the token's smallest unit. */
export const Amount = z.string().regex(/^(0|[1-9]\d*)$/)
/** An amount that may be below zero. */
export const SignedAmount = z.string().regex(/^(0|-?[1-9]\d*)$/)
/** A yield in percent, as decimal text. */
export const Percent = z.string().regex(/^-?\d+(\.\d+)?$/)
/** An EVM address. */
export const Address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
/** A transaction hash. */
export const Hash = z.string().regex(/^0x[0-9a-f]{64}$/)
/** A time, by ISO 8601. */
export const Time = z.iso.datetime()
