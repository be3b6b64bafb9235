import { expect, test } from 'vitest'
import { keepKnownValues } from '../support/examples.ts'

test('An example that is recorded again differs only in changed fields or words of the response', () => {
  const example = {
    status: 'pending',
    hash: '0x1f',
    at: '2026-11-01T00:00:00.000Z',
    price: 1.5,
    items: [{ id: 'a1' }],
    gone: 1,
  }
  const next = {
    status: 'settled',
    hash: '0x2e',
    at: '2026-11-02T00:00:00.000Z',
    price: 2,
    items: [{ id: 'b2', new: '7' }],
  }
  const { gone: _, ...rest } = example
  expect(keepKnownValues(example, next)).toEqual({ ...rest, status: 'settled', items: [{ id: 'a1', new: '7' }] })
  expect(keepKnownValues(undefined, next)).toEqual(next)
  expect(keepKnownValues({ vaultName: 'Harbor' }, { vaultName: 'Tideline' })).toEqual({ vaultName: 'Harbor' })
  expect(keepKnownValues({ hash: '0x1f' }, { hash: null })).toEqual({ hash: null })
})
