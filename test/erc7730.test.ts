import { readdirSync, readFileSync } from 'node:fs'
import { type Abi, type AbiFunction, getAddress, slice, toFunctionSelector, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { poolAbi } from '../lib/bridge/abi.ts'
import { encodeBridgeDeposit } from '../lib/bridge/calldata.ts'
import { encodeApprovals, erc20Abi } from '../lib/chain/erc20.ts'
import { EVM_CHAINS } from '../lib/chain/registry.ts'
import { encodeOperation } from '../lib/protocols/calldata.ts'
import { OPERATIONS } from '../lib/protocols/operations.ts'
import type { ProtocolName } from '../lib/protocols/vault-on-chain.ts'
import { DISTRIBUTOR, distributorAbi, encodeClaim } from '../lib/rewards/distributor.ts'

// The descriptors must match the text of ERC-7730, version 2, and its JSON schema (https://eips.ethereum.org/EIPS/eip-7730).

const FOLDER = 'docs/erc7730'
const PATH = /^(@\.(from|to|value|chainId)|[a-zA-Z]\w*(\.\[\])*)$/
const Path = z.string().regex(PATH)
const ZERO = zeroAddress
const AddressName = z.strictObject({ types: z.array(z.enum(['wallet', 'eoa', 'contract', 'token', 'collection'])) })
const TokenAmount = z
  .strictObject({
    token: z.string().startsWith('$.metadata.constants.').optional(),
    tokenPath: Path.optional(),
    chainIdPath: Path.optional(),
    threshold: z
      .string()
      .regex(/^0x[0-9a-f]+$/)
      .optional(),
    message: z.string().optional(),
  })
  .refine(({ token, tokenPath }) => (token === undefined) !== (tokenPath === undefined))
const common = {
  path: Path,
  label: z.string().min(1),
  visible: z
    .union([z.enum(['always', 'never', 'optional']), z.strictObject({ ifNotIn: z.tuple([z.literal(ZERO)]) })])
    .optional(),
}
const formats = [
  z.strictObject({ ...common, format: z.literal('tokenAmount'), params: TokenAmount }),
  z.strictObject({ ...common, format: z.literal('addressName'), params: AddressName.optional() }),
  z.strictObject({
    ...common,
    format: z.literal('date'),
    params: z.strictObject({ encoding: z.literal('timestamp') }),
  }),
  z.strictObject({ ...common, format: z.enum(['raw', 'chainId']) }),
] as const
const Field = z.discriminatedUnion('format', formats)
const [amount, address, date, plain] = formats
const withoutPath = { path: true } as const
const Definition = z.discriminatedUnion('format', [
  amount.omit(withoutPath),
  address.omit(withoutPath),
  date.omit(withoutPath),
  plain.omit(withoutPath),
])
const Reference = z.strictObject({
  path: Path,
  $ref: z.string().startsWith('$.display.definitions.'),
  label: z.string().min(1).optional(),
})
const Address = z.string().refine((text) => getAddress(text) === text)
const Descriptor = z.strictObject({
  $schema: z.literal('https://eips.ethereum.org/assets/eip-7730/erc7730-v2.schema.json'),
  includes: z.string().optional(),
  context: z.strictObject({
    $id: z.string(),
    contract: z.strictObject({
      deployments: z.array(z.strictObject({ chainId: z.int(), address: Address })).optional(),
    }),
  }),
  metadata: z
    .strictObject({
      owner: z.string(),
      contractName: z.string(),
      info: z.strictObject({ url: z.url() }),
      constants: z.record(z.string(), Address).optional(),
    })
    .optional(),
  display: z
    .strictObject({
      definitions: z.record(z.string(), Definition).optional(),
      formats: z.record(
        z.string(),
        z.strictObject({
          intent: z.string().min(1),
          interpolatedIntent: z.string().optional(),
          fields: z.array(z.union([Field, Reference])),
        }),
      ),
    })
    .optional(),
})
type Descriptor = z.output<typeof Descriptor>

const read = (name: string) => Descriptor.parse(JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8')))

const ABIS: Readonly<Record<string, Abi>> = { erc20: erc20Abi, across: poolAbi, merkl: distributorAbi }
const NAMES = [...Object.keys(OPERATIONS), ...Object.keys(ABIS)]

/**
 * Parses a format key of ERC-7730, such as `deposit(uint256 assets,address receiver)`. Returns the function's selector and the
 * paths of its parameters. The key must be canonical.
 */
function functionOf(key: string): { selector: string; parameters: string[] } {
  const [, name, list = ''] =
    /^([a-zA-Z]\w*)\(((?:[a-z0-9]+(?:\[\])* [a-zA-Z]\w*(?:,(?=[a-z])|(?=\))))*)\)$/.exec(key) ?? []
  const parameters = list === '' ? [] : list.split(',').map((parameter) => parameter.split(' '))
  const selector = toFunctionSelector(`${name}(${parameters.map(([type]) => type).join()})`)
  return { selector, parameters: parameters.map(([type = '', parameter = '']) => pathOf({ type, parameter })) }
}

function pathOf({ type, parameter }: { readonly type: string; readonly parameter: string }): string {
  return `${parameter}${type.replace(/^[a-z0-9]+/, '').replaceAll('[]', '.[]')}`
}

function fieldsOf({ display }: Descriptor, key: string) {
  return (display?.formats[key]?.fields ?? []).map((field) => {
    if (!('$ref' in field)) return field
    const { $ref, ...own } = field
    const definition = display?.definitions?.[$ref.slice('$.display.definitions.'.length)]
    return Field.parse({ ...definition, ...own })
  })
}

const selectorsIn = (name: string) =>
  Object.keys(read(name).display?.formats ?? {}).map((key) => functionOf(key).selector)

describe('The ERC-7730 descriptors', () => {
  const [ONE, TWO] = ['1', '2'].map((digit) => getAddress(`0x${digit.repeat(40)}`)) as [typeof ZERO, typeof ZERO]
  const request = { vault: { address: ONE, asset: TWO }, account: TWO, amount: 1n }

  test.for(Object.keys(OPERATIONS) as ProtocolName[])('describe every call of %s', (name) => {
    const { deposits, withdrawals, claims, cancels } = OPERATIONS[name]
    const operations = [...deposits, ...withdrawals, ...claims, ...cancels.deposit, ...cancels.withdrawal]
    const emitted = operations.map((operation) => slice(encodeOperation({ operation, request }).data, 0, 4))
    expect(new Set(selectorsIn(name))).toEqual(new Set(emitted))
  })

  test('describe approvals and transfers to another chain', () => {
    const approvals = encodeApprovals({ token: ONE, spender: TWO, amount: 1n }, 'exact')
    const end = { chainId: 1, pool: ONE, handler: ONE, token: ONE, decimals: 6 }
    const route = { source: end, destination: end }
    const terms = {
      outputAmount: 1n,
      quoteTimestamp: 1,
      fillDeadline: 1,
      exclusiveRelayer: ONE,
      exclusivityParameter: 0,
    }
    const transfer = encodeBridgeDeposit({ account: TWO, route, inputAmount: 1n }, terms)
    expect(selectorsIn('erc20')).toEqual(approvals.map(({ data }) => slice(data, 0, 4)))
    expect(selectorsIn('across')).toEqual([slice(transfer.data, 0, 4)])
    const deployments = EVM_CHAINS.flatMap(({ id, bridge }) => (bridge ? [{ chainId: id, address: bridge.pool }] : []))
    expect(read('across').context.contract.deployments).toEqual(deployments)
  })

  test('describe claims of rewards on every chain', () => {
    const claim = encodeClaim(ONE, [{ token: TWO, amount: 1n, proof: [] }])
    expect(selectorsIn('merkl')).toEqual([slice(claim.data, 0, 4)])
    const deployments = EVM_CHAINS.map(({ id }) => ({ chainId: id, address: DISTRIBUTOR }))
    expect(read('merkl').context.contract.deployments).toEqual(deployments)
  })

  test.for(Object.entries(ABIS))('match the functions of our ABI for %s', ([name, abi]) => {
    const functions = abi.filter((item): item is AbiFunction => item.type === 'function')
    const signatures = functions.map(
      (item) => `${item.name}(${item.inputs.map((input) => `${input.type} ${input.name}`)})`,
    )
    expect(signatures).toEqual(expect.arrayContaining(Object.keys(read(name).display?.formats ?? {})))
  })

  test.for(NAMES)('are valid by the ERC for %s', (name) => {
    const descriptor = read(name)
    const keys = Object.keys(descriptor.display?.formats ?? {})
    expect(new Set(selectorsIn(name)).size).toBe(keys.length)
    for (const key of keys) {
      const { parameters } = functionOf(key)
      const fields = fieldsOf(descriptor, key)
      // The descriptor lists each argument of the function, even one that a wallet never shows.
      expect(fields.map(({ path }) => path).sort(), key).toEqual(parameters.toSorted())
      for (const field of fields) {
        const { tokenPath, chainIdPath } = field.format === 'tokenAmount' ? field.params : {}
        for (const path of [tokenPath, chainIdPath]) {
          if (path) expect(path.startsWith('@.') || parameters.includes(path), `${key} ${path}`).toBe(true)
        }
      }
      const shown = fields.filter(({ visible = 'always' }) => visible === 'always').map(({ path }) => path)
      const said = descriptor.display?.formats[key]?.interpolatedIntent ?? ''
      for (const [, path] of said.matchAll(/\{([^}]*)\}/g)) expect(shown, key).toContain(path)
    }
    const used = Object.keys(descriptor.display?.definitions ?? {}).filter((definition) =>
      JSON.stringify(descriptor.display?.formats).includes(`"$.display.definitions.${definition}"`),
    )
    expect(used).toEqual(Object.keys(descriptor.display?.definitions ?? {}))
  })

  test('have a complete example of one vault: its address, its owner and its tokens', () => {
    const page = readFileSync(`${FOLDER}/README.md`, 'utf8')
    const [, text = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? []
    const { includes = '', metadata, context } = Descriptor.parse(JSON.parse(text))
    expect(context.contract.deployments?.length).toBe(1)
    expect(metadata?.owner).not.toBe('')
    const names = [...readFileSync(`${FOLDER}/${includes}`, 'utf8').matchAll(/\$\.metadata\.constants\.(\w+)/g)]
    expect(new Set(names.map(([, name]) => name))).toEqual(new Set(Object.keys(metadata?.constants ?? {})))
  })

  test('are the only files in their folder', () => {
    const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'))
    expect(files.sort()).toEqual(NAMES.map((name) => `${name}.json`).sort())
  })
})
