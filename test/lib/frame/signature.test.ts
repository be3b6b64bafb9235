import { createPublicKey, sign, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSignature, verifySignature } from 'http-message-sig'
import { describe, expect, test } from 'vitest'
import { contentDigest, signatureHeaders, verifyContentDigest } from '../../../lib/frame/signature.ts'
import { createSigningKey, keyIdOf, publicKeyOf, signerOf } from '../../../lib/signing/keys.ts'
import { describeExchange, isSignedBy } from '../../support/http-signatures.ts'
import { someEvent } from '../../support/lambda.ts'

/** The key test-key-ed25519 of RFC 9421, appendix B.1.4. */
const RFC_KEY = {
  x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs',
  d: 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU',
}
const RFC_JWK = { kty: 'OKP', crv: 'Ed25519', x: RFC_KEY.x }
/** The key test-key-ecc-p256 of RFC 9421, appendix B.1.3. */
const RFC_P256_JWK = {
  kty: 'EC',
  crv: 'P-256',
  x: 'qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA',
  y: 'Mc4nN9LTDOBhfoUeg8Ye9WedFRhnZXZJA12Qp0zZ6F0',
}
const REQUEST_DIGEST = 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:'
const GUIDE = 'docs/guides/verify-answers.md'
const EVENT = someEvent('POST', '/foo', {
  rawQueryString: 'param=Value&Pet=dog',
  headers: { 'content-digest': REQUEST_DIGEST },
})
const ANSWER = { status: 200, contentType: 'application/json', body: '{"message": "good dog"}' }
const AT = 1_618_884_473_000
const SIGNER = { ...signerOf(RFC_KEY), keyId: 'test-key-ed25519' }

describe('The examples of RFC 9421', () => {
  test('B.2.6: the signer makes the printed signature', async () => {
    const request = {
      kind: 'request',
      method: 'POST',
      targetUri: 'https://example.com/foo?param=Value&Pet=dog',
      fields: [
        { name: 'date', value: 'Tue, 20 Apr 2021 02:07:55 GMT' },
        { name: 'content-type', value: 'application/json' },
        { name: 'content-length', value: '18' },
      ],
    } as const
    const signed = await createSignature(request, {
      label: 'sig-b26',
      components: ['date', '@method', '@path', '@authority', 'content-type', 'content-length'],
      parameters: { created: 1_618_884_473, keyid: 'test-key-ed25519' },
      signer: { algorithm: 'ed25519', sign: (base) => sign(null, base, SIGNER.key) },
    })
    expect(signed).toEqual({
      signatureInput:
        'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
      signature: 'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:',
    })
  })

  test('2.4: the verifier of the tests takes exactly the RFC’s components of the request', async () => {
    const publicKey = createPublicKey({ key: RFC_P256_JWK, format: 'jwk' })
    const algorithm = 'ecdsa-p256-sha256'
    const verifier = {
      algorithm,
      verify: (data: Uint8Array, signature: Uint8Array) =>
        verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature),
    }
    const policy = { algorithms: [algorithm], requiredComponents: ['@status'], requiredParameters: ['created'] }
    const request = {
      method: 'POST',
      url: 'https://example.com/foo?param=Value&Pet=dog',
      headers: {
        'content-digest':
          'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:',
      },
    }
    const headers = {
      'content-type': 'application/json',
      'content-digest':
        'sha-512=:0Y6iCBzGg5rZtoXS95Ijz03mslf6KAMCloESHObfwnHJDbkkWWQz6PhhU9kxsTbARtY2PTBOzq24uJFpHsMuAg==:',
      'signature-input':
        'reqres=("@status" "content-digest" "content-type" "@authority";req "@method";req "@path";req "content-digest";req);created=1618884479;keyid="test-key-ecc-p256"',
      signature: 'reqres=:dMT/A/76ehrdBTD/2Xx8QuKV6FoyzEP/I9hdzKN8LQJLNgzU4W767HK05rx1i8meNQQgQPgQp8wq2ive3tV5Ag==:',
    }
    const response = { status: 503, headers }
    const verified = (changed: typeof request) =>
      verifySignature(describeExchange({ request: changed, response }), { policy, resolveVerifier: () => verifier })
    expect(await verified(request)).toMatchObject({ label: 'reqres' })
    for (const change of [{ method: 'PUT' }, { url: 'https://example.com/bar' }, { headers }]) {
      await expect(verified({ ...request, ...change })).rejects.toThrow()
    }
  })
})

describe('A response', () => {
  test('is signed in the documented form, byte by byte', () => {
    expect(signatureHeaders(EVENT, ANSWER, SIGNER, AT)).toEqual({
      'content-digest': 'sha-256=:z0bm/K2/kBiAHdTk/FHlB2NyoHqaTdzCA9k+jeJ0ezA=:',
      'signature-input':
        'sig=("@status" "content-digest" "content-type" "@method";req "@path";req "@query";req "content-digest";req);created=1618884473;expires=1618884773;keyid="test-key-ed25519";alg="ed25519";tag="vaultline"',
      signature: 'sig=:9XQTBugxVyVUgbhw9Hih0PurlbCNQ58/ezRLgnuJmJMqaQXsUPGMUJRlvcC2NzYXF17UABfkyO4jXGwXMYewCQ==:',
    })
  })

  test.for([
    ['a body with its digest', EVENT, 'https://api.example/foo?param=Value&Pet=dog'],
    ['a plain path', someEvent('GET', '/foo'), 'https://api.example/foo'],
  ] as const)('to %s is verified by the RFC', async ([, event, url]) => {
    const { method } = event.requestContext.http
    const headers = { 'content-type': ANSWER.contentType, ...signatureHeaders(event, ANSWER, SIGNER, AT) }
    const requestHeaders = event.headers as Record<string, string>
    const exchange = { request: { method, url, headers: requestHeaders }, response: { status: 200, headers } }
    expect(await isSignedBy(RFC_JWK, exchange, ANSWER.body, AT)).toBe(true)
    expect(await isSignedBy(RFC_JWK, exchange, `${ANSWER.body} `, AT)).toBe(false)
    expect(await isSignedBy(RFC_JWK, exchange, ANSWER.body, AT + 301_000)).toBe(false)
    const created = { ...exchange, response: { status: 201, headers } }
    expect(await isSignedBy(RFC_JWK, created, ANSWER.body, AT)).toBe(false)
    const other = { ...exchange.request, url: `${url.split('?')[0]}?` }
    expect(await isSignedBy(RFC_JWK, { ...exchange, request: other }, ANSWER.body, AT)).toBe(!url.includes('?'))
  })

  test('has the signature that the guide shows with the signed text', () => {
    const [, signature = '', signed = ''] =
      /^`([\w+/]{86}==)` by the key .*?^```\n("@status": .*?)\n```$/ms.exec(readFileSync(GUIDE, 'utf8')) ?? []
    const key = createPublicKey({ key: RFC_JWK, format: 'jwk' })
    expect(verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64'))).toBe(true)
    expect(signatureHeaders(EVENT, ANSWER, SIGNER, AT).signature).toBe(`sig=:${signature}:`)
  })

  test('with characters beyond ASCII is signed as the bytes that are sent', () => {
    expect(signatureHeaders(EVENT, { ...ANSWER, body: '"für €"' }, SIGNER, AT)['content-digest']).toBe(
      contentDigest(new TextEncoder().encode('"für €"')),
    )
  })
})

describe('A key', () => {
  test('is named by its thumbprint (RFC 8037, A.3)', () => {
    expect(keyIdOf({ x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' })).toBe(
      'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
    )
    expect(keyIdOf(RFC_KEY)).toBe('poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U')
  })

  test('differs each time, and its public part verifies its signatures', async () => {
    const [key, other] = [createSigningKey(new Date(0)), createSigningKey(new Date(0))]
    expect(key.x).not.toBe(other.x)
    const signer = signerOf(key)
    expect(signer.keyId).toBe(publicKeyOf(key).kid)
    const headers = { 'content-type': ANSWER.contentType, ...signatureHeaders(EVENT, ANSWER, signer, AT) }
    const request = {
      method: 'POST',
      url: 'https://api.example/foo?param=Value&Pet=dog',
      headers: { 'content-digest': REQUEST_DIGEST },
    }
    const exchange = { request, response: { status: 200, headers } }
    expect(await isSignedBy(publicKeyOf(key), exchange, ANSWER.body, AT)).toBe(true)
    expect(await isSignedBy(publicKeyOf(other), exchange, ANSWER.body, AT)).toBe(false)
  })
})

test('A request with a digest must have the matching body, and one without may have any', () => {
  // The digest is an example of RFC 9530, appendix B.1.
  const digest = 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:'
  const body = '{"hello": "world"}\n'
  const encoded = { body: Buffer.from(body).toString('base64'), isBase64Encoded: true }
  const verify = (changes: Partial<Parameters<typeof verifyContentDigest>[0]>, headers: Record<string, string>) => () =>
    verifyContentDigest({ body, isBase64Encoded: false, ...changes, headers })
  const stated = { 'content-digest': digest }
  for (const right of [verify({}, stated), verify(encoded, stated), verify({ body: 'any' }, {})]) {
    expect(right).not.toThrow()
  }
  const others = [
    verify({ body: `${body} ` }, stated),
    verify({ body: '' }, stated),
    verify({ body: encoded.body }, stated),
  ]
  for (const wrong of [...others, verify({}, { 'content-digest': '' })]) {
    expect(wrong).toThrow(expect.objectContaining({ code: 'invalid_content_digest' }))
  }
})
