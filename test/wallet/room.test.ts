import { describe, expect, test } from 'vitest'
import { buildBody, type Control, listFields, titleOf } from '../../wallet/src/sandbox/room.ts'

const TOKEN = `0x${'12'.repeat(20)}`
const CHOICES = {
  chains: [
    { label: 'Base', value: 8453 },
    { label: 'Arbitrum', value: 42161 },
  ],
  vaults: [{ label: 'Harbor on Base', body: { chainId: 8453, vaultAddress: '0xab' } }],
  tokens: [
    { label: 'ETH on Base', body: { chainId: 8453 }, decimals: 18 },
    { label: 'USDC on Base', body: { chainId: 8453, token: TOKEN }, decimals: 6 },
  ],
  accounts: [{ label: 'Account 1', value: '0xcd' }],
}

function controlOf(schema: Control['schema'], example: Control['example'] = {}): Control {
  return { name: 'some/control', group: 'Some', does: 'It does.', schema, example, on: [] }
}

/**
 * Builds the request body that a sandbox control's form submits. `entries` maps field keys to an option's label, or to the text
 * of the field.
 */
function fill(control: Control, entries: Readonly<Record<string, string>>): object {
  const fields = listFields(control, CHOICES)
  const form = new FormData()
  for (const [key, text] of Object.entries(entries)) {
    const field = fields.find((one) => one.key === key)
    const option = field?.kind === 'select' && field.options.find(({ label }) => label === text)
    form.set(key, option ? option.value : text)
  }
  return buildBody(fields, form)
}

describe('A control', () => {
  const vault = {
    chainId: { type: 'number', choices: 'chains' },
    vaultAddress: { type: 'string', title: 'Vault', choices: 'vaults', none: 'All vaults' },
  } as const

  test('has no field for the chain if the chosen vault determines it', () => {
    const control = controlOf({ properties: vault, required: ['chainId', 'vaultAddress'] })
    expect(listFields(control, CHOICES).map(({ key, label }) => [key, label])).toEqual([['vaultAddress', 'Vault']])
    expect(fill(control, { vaultAddress: 'Harbor on Base' })).toEqual({ chainId: 8453, vaultAddress: '0xab' })
  })

  test('offers a choice of all if no single one is required', () => {
    const control = controlOf({ properties: vault })
    expect(fill(control, { vaultAddress: 'All vaults' })).toEqual({})
    expect(
      listFields(controlOf({ properties: vault, anyOf: [{ required: ['vaultAddress'] }] }), CHOICES),
    ).toMatchObject([{ options: [{ label: 'Harbor on Base' }] }])
  })

  test('takes an amount in tokens, with the decimals of the chosen token', () => {
    const properties = {
      token: { type: 'string', choices: 'tokens' },
      amount: { type: 'string', format: 'amount' },
      to: { type: 'string', choices: 'accounts' },
      chainId: { type: 'number', choices: 'chains' },
    } as const
    const control = controlOf({ properties, required: ['chainId', 'to', 'amount'] })
    const to = 'Account 1'
    expect(fill(control, { token: 'USDC on Base', amount: '1.5', to })).toEqual({
      ...{ chainId: 8453, token: TOKEN, amount: '1500000', to: '0xcd' },
    })
    expect(fill(control, { token: 'ETH on Base', amount: '1', to })).toMatchObject({ amount: `1${'0'.repeat(18)}` })
    expect(() => fill(control, { token: 'USDC on Base', amount: '0.0000001', to })).toThrow('is not an amount')
  })

  test('starts with the numbers of its example, and sends them as numbers', () => {
    const control = controlOf({ properties: { seconds: { type: 'integer' } }, required: ['seconds'] }, { seconds: 20 })
    expect(listFields(control, CHOICES)).toMatchObject([{ kind: 'number', initial: '20' }])
    expect(fill(control, { seconds: '30' })).toEqual({ seconds: 30 })
  })

  test('sends a box that is not ticked as false, and no empty text', () => {
    const properties = {
      pause: { type: 'boolean' },
      message: { type: 'string' },
      what: { type: 'string', enum: ['a', 'b'] },
    } as const
    const control = controlOf({ properties, required: ['what'] }, { pause: true })
    expect(fill(control, { message: '', what: 'b' })).toEqual({ pause: false, what: 'b' })
    expect(fill(control, { pause: 'on', message: '0x', what: 'a' })).toEqual({ pause: true, message: '0x', what: 'a' })
  })

  test('has a title from the end of its name', () => {
    expect(titleOf('transfers/execute-slow-fill')).toBe('Execute slow fill')
  })
})
