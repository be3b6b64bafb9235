import { createPublicKey, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { contentDigest, signatureHeaders } from '../../../lib/frame/signature.ts'
import { createSigningKey, keyIdOf, publicKeyOf, signerOf } from '../../../lib/signing/keys.ts'
import { isSignedBy, parseSignatureInput, signatureBase } from '../../support/http-signatures.ts'
import { someEvent } from '../../support/lambda.ts'

/** The key test-key-ed25519 of RFC 9421, B.1.4. */
const RFC_KEY = {
  x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs',
  d: 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU',
}
const RFC_JWK = { kty: 'OKP', crv: 'Ed25519', x: RFC_KEY.x }
const REQUEST_DIGEST = 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:'
const ASKED = someEvent('POST', '/foo', {
  rawQueryString: 'param=Value&Pet=dog',
  headers: { 'content-digest': REQUEST_DIGEST },
})
const ANSWER = { status: 200, contentType: 'application/json', body: '{"message": "good dog"}' }
const AT = 1_618_884_473_000
const SIGNER = { ...signerOf(RFC_KEY), keyId: 'test-key-ed25519' }

describe('The oracle of these tests', () => {
  test('agrees with RFC 9421, B.2.6, on a signature of a request', () => {
    const [[, input] = []] = parseSignatureInput(
      'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
    )
    expect(input?.parameters).toEqual(
      new Map<string, unknown>([
        ['created', 1_618_884_473],
        ['keyid', 'test-key-ed25519'],
      ]),
    )
    const base = `"date": Tue, 20 Apr 2021 02:07:55 GMT
"@method": POST
"@path": /foo
"@authority": example.com
"content-type": application/json
"content-length": 18
"@signature-params": ${input?.text}`
    const signature = 'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=='
    const key = createPublicKey({ key: RFC_JWK, format: 'jwk' })
    expect(verify(null, Buffer.from(base), key, Buffer.from(signature, 'base64'))).toBe(true)
  })

  test('refuses what is covered twice, what is not there, and what is no structured field', () => {
    const exchange = {
      request: { method: 'GET', url: 'https://api.example/', headers: {} },
      response: { status: 200, headers: {} },
    }
    const baseOf = (field: string) => {
      const [[, input] = []] = parseSignatureInput(field)
      return input && signatureBase(exchange, input)
    }
    expect(baseOf('sig=("@status" "@path";req "@query";req);created=1')).toBe(
      '"@status": 200\n"@path";req: /\n"@query";req: ?\n"@signature-params": ("@status" "@path";req "@query";req);created=1',
    )
    expect(() => baseOf('sig=("@status" "@status")')).toThrow('twice')
    expect(() => baseOf('sig=("@method")')).toThrow('There is no "@method".')
    expect(() => baseOf('sig=("content-digest";req)')).toThrow('There is no "content-digest";req.')
    for (const wrong of ['sig', 'sig=', 'sig=("a"', 'sig=("a") sig2=("b")', 'sig=("a"),', 'sig=("a""b")']) {
      expect(() => parseSignatureInput(wrong), wrong).toThrow('Not a structured field')
    }
  })
})

describe('An answer', () => {
  test('is signed in the form that is promised, byte by byte', () => {
    // These bytes are also what npm's http-message-signatures 1.0.6 and http-message-sig 0.3.0 make of this exchange.
    expect(signatureHeaders(ASKED, ANSWER, SIGNER, AT)).toEqual({
      'content-digest': 'sha-256=:z0bm/K2/kBiAHdTk/FHlB2NyoHqaTdzCA9k+jeJ0ezA=:',
      'signature-input':
        'sig=("@status" "content-digest" "content-type" "@method";req "@path";req "@query";req "content-digest";req);created=1618884473;expires=1618884773;keyid="test-key-ed25519";alg="ed25519";tag="vaultline"',
      signature: 'sig=:9XQTBugxVyVUgbhw9Hih0PurlbCNQ58/ezRLgnuJmJMqaQXsUPGMUJRlvcC2NzYXF17UABfkyO4jXGwXMYewCQ==:',
    })
  })

  test.for([
    ['a body with its digest', ASKED, 'https://api.example/foo?param=Value&Pet=dog'],
    ['nothing but a path', someEvent('GET', '/foo'), 'https://api.example/foo'],
  ] as const)('to %s is one by the RFC', ([, asked, url]) => {
    const { method } = asked.requestContext.http
    const headers = { 'content-type': ANSWER.contentType, ...signatureHeaders(asked, ANSWER, SIGNER, AT) }
    const requestHeaders = asked.headers as Record<string, string>
    const exchange = { request: { method, url, headers: requestHeaders }, response: { status: 200, headers } }
    expect(isSignedBy(RFC_JWK, exchange, ANSWER.body)).toBe(true)
    expect(isSignedBy(RFC_JWK, exchange, `${ANSWER.body} `)).toBe(false)
    expect(isSignedBy(RFC_JWK, { ...exchange, response: { status: 201, headers } }, ANSWER.body)).toBe(false)
    const other = { ...exchange.request, url: `${url.split('?')[0]}?` }
    expect(isSignedBy(RFC_JWK, { ...exchange, request: other }, ANSWER.body)).toBe(!url.includes('?'))
  })

  test('of characters beyond ASCII is signed as the bytes that leave', () => {
    expect(signatureHeaders(ASKED, { ...ANSWER, body: '"für €"' }, SIGNER, AT)['content-digest']).toBe(
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

  test('is another one each time, and what it signs its public part verifies', () => {
    const [key, other] = [createSigningKey(new Date(0)), createSigningKey(new Date(0))]
    expect(key.x).not.toBe(other.x)
    const signer = signerOf(key)
    expect(signer.keyId).toBe(publicKeyOf(key).kid)
    const headers = { 'content-type': ANSWER.contentType, ...signatureHeaders(ASKED, ANSWER, signer, AT) }
    const request = {
      method: 'POST',
      url: 'https://api.example/foo?param=Value&Pet=dog',
      headers: { 'content-digest': REQUEST_DIGEST },
    }
    const exchange = { request, response: { status: 200, headers } }
    expect(isSignedBy(publicKeyOf(key), exchange, ANSWER.body)).toBe(true)
    expect(isSignedBy(publicKeyOf(other), exchange, ANSWER.body)).toBe(false)
  })
})
