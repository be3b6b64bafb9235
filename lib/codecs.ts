import { type Address as EvmAddress, getAddress, type Hash, isHash, zeroAddress } from 'viem'
import * as z from 'zod'
import { field } from './field.ts'

/** The largest amount that there can be. */
export const MAX_UINT256 = 2n ** 256n - 1n

/** How many addresses are remembered with their checksums. */
const MOST_CHECKSUMS = 20_000
const checksums = new Map<string, EvmAddress>()

/**
 * The address with its EIP-55 checksum. Remembered, because the checksum is a hash and a list of vaults has hundreds of
 * addresses, the same ones in every request. Throws for anything but 0x and 40 hexadecimal digits.
 */
export function checksumAddress(address: string): EvmAddress {
  const known = checksums.get(address)
  if (known) return known
  const checksummed = getAddress(address.toLowerCase())
  if (checksums.size >= MOST_CHECKSUMS) checksums.clear()
  checksums.set(address, checksummed)
  return checksummed
}

/**
 * An EVM address: all lower case, all upper case or with its EIP-55 checksum on the way in, checksummed everywhere after.
 * A mixed-case address with a wrong checksum is refused: it is a typo, and money goes there.
 */
export const Address = z
  .codec(
    z.string().meta({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'EVM address' }),
    z.custom<EvmAddress>((value) => typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)),
    {
      decode: (text, context) => {
        const digits = text.slice(2)
        if (/^0x[0-9a-fA-F]{40}$/.test(text)) {
          const checksummed = checksumAddress(text)
          if (text === checksummed || digits === digits.toLowerCase() || digits === digits.toUpperCase())
            return checksummed
        }
        context.issues.push({ code: 'custom', message: 'must be an EVM address with a correct checksum', input: text })
        return z.NEVER
      },
      encode: checksumAddress,
    },
  )
  .meta({ id: 'Address' })

/** The address of a person's account: any Address but zero, from which nothing comes back. */
export const UserAddress = field(
  Address.refine((address) => address !== zeroAddress, 'must not be the zero address'),
  'missing_or_invalid_user_address',
).describe("The user's wallet")

/** The address of a vault that a request names. */
export const VaultAddress = field(Address, 'missing_or_invalid_vault_address').describe('Vault contract')

/** An unsigned 256-bit integer, such as a token amount in its smallest unit: a decimal string on the wire and at rest, a bigint in memory. */
export const Amount = z
  .codec(
    z.string().meta({ pattern: '^(0|[1-9][0-9]{0,77})$', description: 'Whole number below 2^256' }),
    z.bigint().nonnegative().lte(MAX_UINT256, 'must be below 2^256'),
    {
      decode: (text, context) => {
        if (/^(0|[1-9]\d{0,77})$/.test(text)) return BigInt(text)
        context.issues.push({ code: 'custom', message: 'must be a string of decimal digits', input: text })
        return z.NEVER
      },
      encode: (amount) => amount.toString(),
    },
  )
  .meta({ id: 'Amount' })

/** What one whole share of a vault is worth. */
export const SharePrice = Amount.describe("Value of one whole share, in the asset's smallest unit")

/** A whole number of either sign: decimal digits, with a minus before those below zero. */
export const SignedAmount = z.codec(z.string().meta({ pattern: '^(0|-?[1-9][0-9]{0,77})$' }), z.bigint(), {
  decode: (text, context) => {
    if (/^(0|-?[1-9]\d{0,77})$/.test(text)) return BigInt(text)
    context.issues.push({ code: 'custom', message: 'must be a string of decimal digits', input: text })
    return z.NEVER
  },
  encode: (amount) => amount.toString(),
})

/** An Amount above zero. */
export const PositiveAmount = field(
  Amount.refine((amount) => amount > 0n, 'must be positive'),
  'missing_or_invalid_amount',
)

/** The hash of a transaction, in lower case. */
export const TransactionHash = z
  .codec(
    z.string().meta({ pattern: '^0x[0-9a-fA-F]{64}$', description: 'Transaction hash' }),
    z.custom<Hash>((value) => typeof value === 'string' && isHash(value)),
    {
      decode: (text, context) => {
        const hash = text.toLowerCase()
        if (isHash(hash) && text.startsWith('0x')) return hash
        context.issues.push({ code: 'custom', message: 'must be 0x and 64 hexadecimal digits', input: text })
        return z.NEVER
      },
      encode: (hash) => hash,
    },
  )
  .meta({ id: 'TransactionHash' })

/** A whole number from `min`, not below 0, to `max` that arrives as text, as query parameters do. */
export function numberText(min: number, max: number) {
  return z.codec(
    z.string().meta({ pattern: '^(0|[1-9][0-9]{0,14})$', description: `${min} to ${max}` }),
    z.number().int().min(min).max(max),
    {
      decode: (text, context) => {
        const number = Number(text)
        if (/^(0|[1-9]\d{0,14})$/.test(text) && number >= min && number <= max) return number
        context.issues.push({ code: 'custom', message: `must be a whole number from ${min} to ${max}`, input: text })
        return z.NEVER
      },
      encode: (number) => number.toString(),
    },
  )
}

/** A moment: an ISO 8601 string in UTC with milliseconds on the wire and at rest, a Date in memory. */
export const Timestamp = z
  .codec(z.iso.datetime({ precision: 3 }), z.date(), {
    decode: (text) => new Date(text),
    encode: (date) => date.toISOString(),
  })
  .meta({ id: 'Timestamp', description: 'ISO 8601, UTC, with milliseconds' })

/** Text that is base64url, or base64, with or without padding: on the way in some clients write bytes so. */
export const BASE64 = /^[A-Za-z0-9_+/-]+={0,2}$/

/** Bytes, at most this many: base64url on the wire and at rest, on the way in also what `BASE64` takes. */
export function base64url(maxBytes: number) {
  const maxLength = Math.ceil(maxBytes / 3) * 4
  return z.codec(
    z
      .string()
      .max(maxLength)
      .meta({ pattern: BASE64.source, description: `base64url of at most ${maxBytes} bytes` }),
    z.instanceof(Uint8Array).refine((bytes) => bytes.length > 0 && bytes.length <= maxBytes, 'has a wrong length'),
    {
      decode: (text, context) => {
        if (BASE64.test(text)) return new Uint8Array(Buffer.from(text, 'base64url'))
        context.issues.push({ code: 'custom', message: 'must be base64url', input: text })
        return z.NEVER
      },
      encode: (bytes) => Buffer.from(bytes).toString('base64url'),
    },
  )
}

/** A moment in whole seconds, as DynamoDB's time to live wants it: seconds since 1970 at rest, a Date in memory. */
export const EpochSeconds = z.codec(z.number().int().nonnegative(), z.date(), {
  decode: (seconds) => new Date(seconds * 1000),
  encode: (date) => Math.floor(date.getTime() / 1000),
})
