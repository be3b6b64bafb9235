import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createApiKey, parseApiKey, randomBase62 } from '../../../lib/clients/api-key.ts'
import { CODE_POINT } from '../../support/texts.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base62 = (length: number) => fc.string({ unit: fc.constantFrom(...BASE62), minLength: length, maxLength: length })

const issued = fc
  .record({
    environment: fc.constantFrom('live', 'test', 'local'),
    clientId: base62(10),
    bytes: fc.uint8Array({ minLength: 32, maxLength: 32, max: 247 }),
  })
  .map(({ environment, clientId, bytes }) => ({
    environment,
    clientId,
    key: createApiKey(environment, clientId, () => bytes),
  }))

describe('An API key', () => {
  test('has the form jk_<environment>_<clientId>_<secret><check>', () => {
    const key = createApiKey('live', 'AbCdE01234', randomBytes)
    expect(key).toMatch(/^jk_live_AbCdE01234_[0-9A-Za-z]{38}$/)
  })

  test('ends with the CRC-32 of all before it as six base62 digits', () => {
    const key = createApiKey('live', 'AbCdE01234', randomBytes)
    const value = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + BASE62.indexOf(digit), 0)
    expect(value).toBe(crc32(key.slice(0, -6)))
  })

  test('is parsed to its client', () => {
    fc.assert(
      fc.property(issued, ({ key, clientId }) => {
        expect(parseApiKey(key)).toEqual({ clientId })
      }),
    )
  })

  test('is refused if any character is changed', () => {
    fc.assert(
      fc.property(issued, fc.nat(), CODE_POINT, ({ key }, nat, other) => {
        const at = nat % key.length
        fc.pre(key[at] !== other)
        expect(parseApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBeNull()
      }),
    )
  })

  test('is refused if any base62 character is replaced by any other', () => {
    const key = createApiKey('live', 'AbCdE01234', randomBytes)
    for (const at of key.split('').keys()) {
      for (const other of BASE62) {
        if (other !== key[at]) expect(parseApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBeNull()
      }
    }
  })

  test('is refused with text before or after it, or without one of its parts', () => {
    const key = createApiKey('test', 'AbCdE01234', randomBytes)
    for (const text of [
      ` ${key}`,
      `${key} `,
      `${key}\n`,
      key.slice(1),
      key.slice(0, -1),
      '',
      'jk_live___',
      `${key}0`,
    ]) {
      expect(parseApiKey(text)).toBeNull()
    }
  })

  test('is refused if it is any other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseApiKey(text)).toBeNull()
      }),
    )
  })

  test('is refused in an unknown environment, even with the right check', () => {
    const key = createApiKey('prod' as 'live', 'AbCdE01234', randomBytes)
    expect(parseApiKey(key)).toBeNull()
  })
})

describe('Random base62 text', () => {
  test('skips bytes that would favour some characters', () => {
    const draws = [Uint8Array.of(255, 248, 0), Uint8Array.of(247, 61)]
    expect(randomBase62(3, () => draws.shift() ?? new Uint8Array())).toBe('0zz')
  })

  test('requests as many bytes as are still missing', () => {
    const sizes: number[] = []
    randomBase62(4, (size) => {
      sizes.push(size)
      return new Uint8Array(size).fill(sizes.length === 1 ? 250 : 1)
    })
    expect(sizes).toEqual([4, 4])
  })
})
