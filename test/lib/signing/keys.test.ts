import { createPublicKey, sign, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSigningKey, publicKeyOf, signerOf } from '../../../lib/signing/keys.ts'

test('The published part of a key verifies its signatures, and reveals nothing of the private part', () => {
  const key = createSigningKey(new Date(0))
  const published = publicKeyOf(key)
  expect(Object.keys(published).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x'])
  expect(JSON.stringify(published)).not.toContain(key.d)
  const signer = signerOf(key)
  expect(published.kid).toBe(signer.keyId)
  const text = Buffer.from('an answer')
  expect(verify(null, text, createPublicKey({ key: published, format: 'jwk' }), sign(null, text, signer.key))).toBe(
    true,
  )
})
