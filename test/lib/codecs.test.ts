import fc from 'fast-check'
import { getAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import type * as z from 'zod'
import {
  Address,
  Amount,
  numberText,
  PositiveAmount,
  Timestamp,
  TransactionHash,
  UserAddress,
} from '../../lib/core/codecs.ts'
import { scaleSampleCount } from '../support/runs.ts'
import { CODE_POINT } from '../support/texts.ts'

const MAX = 2n ** 256n - 1n
// Example addresses of EIP-55.
const CHECKSUMMED = [
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0xde709f2102306220921060314715629080e2fb77',
] as const

const address = fc.stringMatching(/^[0-9a-f]{40}$/).map((digits) => getAddress(`0x${digits}`))
const amount = fc.bigInt({ min: 0n, max: MAX })
const moment = fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
const anything = fc.oneof(
  address,
  address.map((text) => text.toLowerCase()),
  address.map((text) => `0x${text.slice(2).toUpperCase()}`),
  amount.map(String),
  moment.map((date) => date.toISOString()),
  fc.anything(),
  fc.string({ unit: CODE_POINT }),
  fc.stringMatching(/^0x[0-9a-fA-F]{39,41}$/),
)

function takesOnlyCanonical(codec: z.ZodType, input: unknown, canonical: (text: string) => string): void {
  const { success, data } = codec.safeDecode(input)
  if (!success) return
  expect(typeof input).toBe('string')
  expect(codec.encode(data)).toBe(canonical(input as string))
}

describe('An address', () => {
  test('is read with its EIP-55 checksum, in lower or upper case, and is written with the checksum', () => {
    for (const text of CHECKSUMMED) {
      for (const form of [text, text.toLowerCase(), `0x${text.slice(2).toUpperCase()}`]) {
        expect(Address.decode(form)).toBe(text)
        expect(Address.encode(Address.decode(form))).toBe(text)
      }
    }
  })

  test('survives encoding and decoding', () => {
    fc.assert(
      fc.property(address, (value) => {
        expect(Address.decode(Address.encode(value))).toBe(value)
      }),
    )
  })

  test('with one letter in the wrong case is refused', () => {
    const mistyped = fc.tuple(address, fc.nat()).map(([value, choice]) => {
      const letters = [...value.matchAll(/[a-fA-F]/g)].map(({ index }) => index)
      const at = letters[choice % (letters.length || 1)] ?? 0
      const letter = value.charAt(at)
      const other = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase()
      return value.slice(0, at) + other + value.slice(at + 1)
    })
    fc.assert(
      fc.property(mistyped, (text) => {
        const digits = text.slice(2)
        // An address with all letters in one case has no checksum.
        const isPlain = digits === digits.toLowerCase() || digits === digits.toUpperCase()
        expect(Address.safeDecode(text).success).toBe(isPlain || text === getAddress(text.toLowerCase()))
      }),
      { numRuns: scaleSampleCount(1000) },
    )
  })

  test('is the only input that its codec takes', () => {
    fc.assert(
      fc.property(anything, (input) => takesOnlyCanonical(Address, input, (text) => getAddress(text.toLowerCase()))),
      { numRuns: scaleSampleCount(2000) },
    )
  })

  test.for([
    [''],
    ['0x'],
    [`0X${'a'.repeat(40)}`],
    ['a'.repeat(40)],
    [`0x${'a'.repeat(39)}`],
    [`0x${'a'.repeat(41)}`],
    [`0x${'g'.repeat(40)}`],
    [` 0x${'a'.repeat(40)}`],
    [`0x${'a'.repeat(40)}\n`],
    [`0x${'\uff11'.repeat(40)}`],
    [5],
    [null],
    [undefined],
    [['0x']],
  ])('is not %j', ([input]) => {
    expect(Address.safeParse(input).error?.issues).toHaveLength(1)
  })

  test('of a user is never the zero address', () => {
    const zero = `0x${'0'.repeat(40)}`
    expect(Address.decode(zero)).toBe(zero)
    expect(UserAddress.safeDecode(zero).error?.issues).toMatchObject([{ message: 'must not be the zero address' }])
    fc.assert(
      fc.property(address, (value) => {
        expect(UserAddress.decode(value)).toBe(value)
      }),
    )
  })
})

describe('An amount', () => {
  test('survives encoding and decoding, up to 256 bits', () => {
    for (const value of [0n, 1n, 2n ** 53n + 1n, 2n ** 128n, MAX - 1n, MAX]) {
      expect(Amount.decode(Amount.encode(value))).toBe(value)
    }
    fc.assert(
      fc.property(amount, (value) => {
        expect(Amount.decode(Amount.encode(value))).toBe(value)
      }),
    )
  })

  test('has only one text', () => {
    const digits = fc.stringMatching(/^[0-9]{1,80}$/)
    fc.assert(
      fc.property(fc.oneof(anything, digits), (input) => takesOnlyCanonical(Amount, input, (text) => text)),
      { numRuns: scaleSampleCount(2000) },
    )
  })

  test('above 256 bits or below zero is neither decoded nor encoded', () => {
    const tooLarge = fc.bigInt({ min: MAX + 1n, max: 2n ** 300n })
    fc.assert(
      fc.property(fc.oneof(tooLarge, fc.bigInt({ max: -1n })), (value) => {
        expect(Amount.safeDecode(value.toString()).success).toBe(false)
        expect(Amount.safeEncode(value).success).toBe(false)
      }),
    )
    expect(Amount.safeDecode(MAX.toString()).success).toBe(true)
    expect(Amount.safeDecode((MAX + 1n).toString()).success).toBe(false)
  })

  test.for(
    [
      '',
      '-0',
      '-1',
      '+1',
      '00',
      '01',
      '1.0',
      '1.',
      '.1',
      '1e3',
      '0x1',
      '1n',
      '1_0',
      '1,0',
      ' 1',
      '1 ',
      '1\n',
      '\ufeff1',
      '\u0661',
      '\uff11',
      '\u00b9',
      'NaN',
      'Infinity',
      '9'.repeat(78),
      '1'.repeat(79),
    ].map((text) => [text]),
  )('is not written as %j', ([text]) => {
    expect(Amount.safeDecode(text as string).error?.issues).toHaveLength(1)
  })

  test('is never read from a JSON number, which may have lost digits', () => {
    for (const value of [0, 1, 1e21, 2 ** 53, Number.NaN]) expect(Amount.safeParse(value).success).toBe(false)
    for (const value of [0, 1, '1']) expect(Amount.safeEncode(value as unknown as bigint).success).toBe(false)
  })

  test('of a payment is positive', () => {
    expect(PositiveAmount.safeDecode('0').error?.issues).toMatchObject([{ message: 'must be positive' }])
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: MAX }), (value) => {
        expect(PositiveAmount.decode(`${value}`)).toBe(value)
      }),
    )
  })
})

describe('A moment', () => {
  test('survives encoding and decoding, to the millisecond', () => {
    fc.assert(
      fc.property(moment, (value) => {
        expect(Timestamp.decode(Timestamp.encode(value))).toEqual(value)
      }),
    )
  })

  test('is written only in UTC with milliseconds', () => {
    expect(Timestamp.encode(new Date(1_795_132_800_001))).toBe('2026-11-20T00:00:00.001Z')
    fc.assert(
      fc.property(anything, (input) => takesOnlyCanonical(Timestamp, input, (text) => text)),
      { numRuns: scaleSampleCount(2000) },
    )
  })

  test.for(
    [
      '',
      '2026-11-20',
      '2026-11-20T00:00:00Z',
      '2026-11-20T00:00:00.001',
      '2026-11-20T00:00:00.001+00:00',
      '2026-11-20T00:00:00.0001Z',
      '2026-02-30T00:00:00.000Z',
      '2026-13-01T00:00:00.000Z',
      '2026-11-20T24:00:00.000Z',
      '2026-11-20 00:00:00.000Z',
      '1795132800001',
      '+012026-11-20T00:00:00.001Z',
    ].map((text) => [text]),
  )('is not written as %j', ([text]) => {
    expect(Timestamp.safeDecode(text as string).success).toBe(false)
  })

  test('that is invalid is not encoded', () => {
    expect(Timestamp.safeEncode(new Date(Number.NaN)).success).toBe(false)
  })
})

describe('The hash of a transaction', () => {
  const HASH = `0x${'5c'.repeat(32)}`

  test('is 32 bytes in hex, in any letter case', () => {
    for (const text of [HASH, `0x${'5C'.repeat(32)}`]) expect(TransactionHash.decode(text)).toBe(HASH)
  })

  test('is nothing else', () => {
    const short = HASH.slice(0, -1)
    const texts = ['0x', HASH.slice(2), short, `${HASH}0`, `${short}g`, ` ${HASH}`, `${HASH}\n`, `0X${HASH.slice(2)}`]
    for (const text of [...texts, `${short}\u0665`]) expect(TransactionHash.safeDecode(text).success).toBe(false)
  })
})

test('A number as text is whole, within its limits, and has only one text', () => {
  const Index = numberText(0, 49)
  for (const number of [0, 7, 49]) expect(Index.decode(`${number}`)).toBe(number)
  for (const text of ['', 'x', '-1', '1.5', '01', '50', '999999']) expect(Index.safeDecode(text).success).toBe(false)
})
