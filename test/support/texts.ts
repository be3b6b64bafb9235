import fc from 'fast-check'

/**
 * Generates any code point as a text, including lone surrogates. fast-check's own unit 'binary' would take a second to start.
 */
export const CODE_POINT = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code))
