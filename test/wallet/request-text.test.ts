import { expect, test } from 'vitest'
import { describeRequest } from '../../wallet/src/request-text.ts'

const pending = { status: 'pending', estimate: null, claimableAt: null } as const

test('A request in a cooldown says when it can be claimed', () => {
  expect(describeRequest({ ...pending, claimableAt: '2026-12-04T08:30:00.000Z' })).toBe(
    'You can claim it from Dec 4, 2026, 8:30 AM.',
  )
})

test('A request before its settlement says who decides, and how long it usually takes if known', () => {
  expect(describeRequest(pending)).toBe('Waiting for the vault’s settlement. Its manager decides when.')
  expect(describeRequest({ ...pending, estimate: { p50: 7200, p90: 9000 } })).toBe(
    'Waiting for the vault’s settlement (usually 2 h). Its manager decides when.',
  )
})

test('A claimable request says only that it can be claimed', () => {
  expect(describeRequest({ ...pending, status: 'claimable' })).toBe('You can claim it at any time.')
})
