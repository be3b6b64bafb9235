// These schemas are written only from the published API document. They import nothing from lib/, because they must reveal
// mistakes in lib/.
import * as z from 'zod'

/** Token amount: an integer in the token's smallest unit, as text. */
export const Amount = z.string().regex(/^(0|[1-9]\d*)$/)
/** Token amount that may be negative: an integer in the token's smallest unit, as text. */
export const SignedAmount = z.string().regex(/^(0|-?[1-9]\d*)$/)
/** Yield in percent, as decimal text. */
export const Percent = z.string().regex(/^-?\d+(\.\d+)?$/)
/** EVM address. */
export const Address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
/** Transaction hash. */
export const Hash = z.string().regex(/^0x[0-9a-f]{64}$/)
/** Time in ISO 8601 format. */
export const Time = z.iso.datetime()
