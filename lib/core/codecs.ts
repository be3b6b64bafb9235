import { type Address as EvmAddress, getAddress, type Hash, isHash, zeroAddress } from 'viem'
import * as z from 'zod'
import { field } from './field.ts'

/** Largest unsigned 256-bit integer. No ERC-20 amount can be larger. */
export const MAX_UINT256 = 2n ** 256n - 1n

const MAX_CHECKSUMS = 20_000
const checksums = new Map<string, EvmAddress>()

/**
 * Returns an address with its EIP-55 checksum. Results are cached, because each checksum needs a hash and lists of
 * vaults repeat hundreds of addresses. Throws if the text is not 0x with 40 hexadecimal digits.
 */
export function checksumAddress(address: string): EvmAddress {
  const known = checksums.get(address)
  if (known) return known
  const checksummed = getAddress(address.toLowerCase())
  if (checksums.size >= MAX_CHECKSUMS) checksums.clear()
  checksums.set(address, checksummed)
  return checksummed
}

/**
 * EVM address. Input may be in lower case, in upper case or with an EIP-55 checksum; output always has the checksum. A
 * wrong checksum is refused, because a mistyped address would receive the user's money.
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

/** Request field: address of a user's account. The zero address is refused, because funds sent to it are lost. */
export const UserAddress = field(
  Address.refine((address) => address !== zeroAddress, 'must not be the zero address'),
  'missing_or_invalid_user_address',
).describe("The user's wallet")

/** Request field: address of a vault. */
export const VaultAddress = field(Address, 'missing_or_invalid_vault_address').describe('Vault contract')

/**
 * Unsigned 256-bit integer, such as a token amount in its smallest unit. It is a decimal string in JSON and storage,
 * and a bigint in memory.
 */
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

/** Value of one whole share of a vault, in the smallest unit of the vault's asset. */
export const SharePrice = Amount.describe("Value of one whole share, in the asset's smallest unit")

/** Whole number of either sign. It is a decimal string in JSON and storage, and a bigint in memory. */
export const SignedAmount = z.codec(z.string().meta({ pattern: '^(0|-?[1-9][0-9]{0,77})$' }), z.bigint(), {
  decode: (text, context) => {
    if (/^(0|-?[1-9]\d{0,77})$/.test(text)) return BigInt(text)
    context.issues.push({ code: 'custom', message: 'must be a string of decimal digits', input: text })
    return z.NEVER
  },
  encode: (amount) => amount.toString(),
})

/** Request field: an amount above zero. */
export const PositiveAmount = field(
  Amount.refine((amount) => amount > 0n, 'must be positive'),
  'missing_or_invalid_amount',
)

/** Transaction hash. Parsing converts it to lower case. */
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

/** Returns a schema for a query parameter: a whole number from `min` to `max`, as decimal text. `min` is at least 0. */
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

/** Point in time. It is an ISO 8601 string in UTC with milliseconds in JSON and storage, and a Date in memory. */
export const Timestamp = z
  .codec(z.iso.datetime({ precision: 3 }), z.date(), {
    decode: (text) => new Date(text),
    encode: (date) => date.toISOString(),
  })
  .meta({ id: 'Timestamp', description: 'ISO 8601, UTC, with milliseconds' })

/** Pattern of encoded bytes in all forms that clients send: base64url or base64, with or without padding. */
export const BASE64 = /^[A-Za-z0-9_+/-]+={0,2}$/

/** Returns a schema for at most `maxBytes` bytes. Output is base64url without padding. Input may have any form that `BASE64` matches. */
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

/** Point in time. It is a number of whole seconds since 1970 in storage, as DynamoDB's time to live requires, and a Date in memory. */
export const EpochSeconds = z.codec(z.number().int().nonnegative(), z.date(), {
  decode: (seconds) => new Date(seconds * 1000),
  encode: (date) => Math.floor(date.getTime() / 1000),
})
