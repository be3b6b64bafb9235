import type { KeyObject } from 'node:crypto'

/** Required exponent of RSA keys. Signatures of keys with another exponent, such as 1, can be forged. */
const RSA_EXPONENT = 65_537n

/** Returns true if a public key has an accepted type and size, and signatures cannot be forged for it. */
export function isAcceptedKey(key: KeyObject): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  switch (type) {
    case 'ec':
      return details?.namedCurve === 'prime256v1'
    case 'rsa': {
      const { modulusLength = 0, publicExponent } = details ?? {}
      return modulusLength >= 2048 && modulusLength <= 4096 && publicExponent === RSA_EXPONENT
    }
    case 'ed25519':
      return !isOfSmallOrder(Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url'))
    default:
      return false
  }
}

/**
 * Points of small order of Ed25519, without their sign bit. Anyone can forge signatures for such a public key
 * (`has_small_order` in https://github.com/jedisct1/libsodium).
 */
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]

/** Returns true if this Ed25519 public key (32 bytes) has small order. Anyone can forge signatures for such a key. */
export function isOfSmallOrder(publicKey: Uint8Array): boolean {
  const point = Buffer.from(publicKey)
  point[31] = (point[31] ?? 0) & 0x7f
  return SMALL_ORDER.includes(point.toString('hex'))
}
