import fc from 'fast-check'

/** Any code point as a text, including lone surrogates. The unit 'binary' of fast-check needs a second before its first text. */
export const CODE_POINT = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code))
