import { type Hash, type Hex, isHash, isHex } from 'viem'
import * as z from 'zod'
import { LAST_SECOND } from '../core/time.ts'

/** Bytes in JSON-RPC: `0x` and hexadecimal digits, or `0x` only. */
export const HexText = z.custom<Hex>((value) => isHex(value))

/** A hash of 32 bytes as text. */
export const HashText = z.custom<Hash>((value) => typeof value === 'string' && isHash(value))

/** A number in JSON-RPC: `0x` and at most 64 hexadecimal digits. */
export const Quantity = z
  .custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value))
  .transform((text) => BigInt(text))

/** A block's time in seconds since 1970, up to the year 9999. */
export const BlockTime = Quantity.refine((time) => time <= LAST_SECOND)
