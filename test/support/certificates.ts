import { type KeyObject, randomBytes, sign } from 'node:crypto'

type KeyPair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject }

const ECDSA_WITH_SHA256 = tlv(0x30, oid('1.2.840.10045.4.3.2'))
const NAME = tlv(0x30, tlv(0x31, tlv(0x30, oid('2.5.4.3'), tlv(0x0c, Buffer.from('mallory')))))
const VALIDITY = tlv(0x30, tlv(0x17, Buffer.from('200101000000Z')), tlv(0x17, Buffer.from('490101000000Z')))

/**
 * Creates the DER certificate chain of an Android key attestation: the key's certificate, then the root
 * (https://source.android.com/docs/security/features/keystore/attestation). A test key signs both certificates. The
 * root names the URL of the revocation list.
 */
export function createAndroidCertificates(
  publicKey: KeyObject,
  clientDataHash: Buffer,
  root: KeyPair,
  revocationList: string,
): Buffer[] {
  const [level, version] = [tlv(0x0a, Buffer.from([1])), tlv(0x02, Buffer.from([3]))]
  const described = [version, level, version, level, tlv(0x04, clientDataHash), tlv(0x04), tlv(0x30), tlv(0x30)]
  const description = extension('1.3.6.1.4.1.11129.2.1.17', tlv(0x30, ...described))
  const url = tlv(0xa0, tlv(0xa0, tlv(0x86, Buffer.from(revocationList))))
  const lists = extension('2.5.29.31', tlv(0x30, tlv(0x30, url)))
  return [certificate(publicKey, root, description), certificate(root.publicKey, root, lists)]
}

/** Creates a self-signed TLS server certificate for a host name, in PEM. */
export function createServerCertificate(key: KeyPair, name: string): string {
  const names = extension('2.5.29.17', tlv(0x30, tlv(0x82, Buffer.from(name))))
  const base64 = certificate(key.publicKey, key, names).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

function certificate(publicKey: KeyObject, issuer: KeyPair, ...extensions: Buffer[]): Buffer {
  const toBeSigned = tlv(
    0x30,
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(7)])),
    ECDSA_WITH_SHA256,
    NAME,
    VALIDITY,
    NAME,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, tlv(0x30, ...extensions)),
  )
  const signature = sign('sha256', toBeSigned, issuer.privateKey)
  return tlv(0x30, toBeSigned, ECDSA_WITH_SHA256, tlv(0x03, Buffer.from([0]), signature))
}

function extension(id: string, value: Buffer): Buffer {
  return tlv(0x30, oid(id), tlv(0x04, value))
}

function tlv(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  const base128 = (number: number): number[] =>
    number < 128 ? [number] : [...base128(number >> 7).map((digit) => digit | 0x80), number & 0x7f]
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}
