import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { equalHashes, sha256 } from '../../lib/core/sha256.ts'

describe('The hash of a text', () => {
  test('is its SHA-256 in hex digits', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  test('equals only itself', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, other) => {
        expect(equalHashes(sha256(text), sha256(text))).toBe(true)
        expect(equalHashes(sha256(text), sha256(other))).toBe(text === other)
      }),
    )
  })
})
