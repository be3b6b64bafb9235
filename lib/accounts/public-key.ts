import type { KeyObject } from 'node:crypto'

/** Required exponent of RSA keys. With another one, such as 1, signatures can be forged. */
const RSA_EXPONENT = 65_537n

/** True if this public key has an accepted type and only its owner can sign for it. */
export function isSound(key: KeyObject): boolean {
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
 * Ed25519 points, without their sign bit, for which anyone can forge signatures (https://github.com/jedisct1/libsodium,
 * `has_small_order`).
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

/** True if anyone can sign for this Ed25519 key of 32 bytes. */
export function isOfSmallOrder(publicKey: Uint8Array): boolean {
  const point = Buffer.from(publicKey)
  point[31] = (point[31] ?? 0) & 0x7f
  return SMALL_ORDER.includes(point.toString('hex'))
}
