import { type Hash, type Hex, isHash, isHex } from 'viem'
import * as z from 'zod'
import { LAST_SECOND } from '../core/time.ts'

/** Bytes as nodes write them: `0x` and hexadecimal digits, or none. */
export const HexText = z.custom<Hex>((value) => isHex(value))

/** A hash of 32 bytes as text. */
export const HashText = z.custom<Hash>((value) => typeof value === 'string' && isHash(value))

/** A number of at most one word, as nodes write it. */
export const Quantity = z
  .custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value))
  .transform((text) => BigInt(text))

/** A block's time in seconds since 1970, up to the year 9999. */
export const BlockTime = Quantity.refine((time) => time <= LAST_SECOND)
