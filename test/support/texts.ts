import fc from 'fast-check'

/** Any code point as a text, half surrogates too. The unit 'binary' of fast-check costs a second before its first text. */
export const CODE_POINT = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code))
