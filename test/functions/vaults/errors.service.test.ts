import type { Address } from 'viem'
import { describe, expect } from 'vitest'
import type { ErrorCode } from '../../../lib/core/errors.ts'
import { ACCOUNTS } from '../../../sandbox/accounts.ts'
import { deployLagoonVault } from '../../../sandbox/deploy.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { someKey } from '../../support/clients.ts'
import { expectError } from '../../support/errors.ts'
import { ARBITRUM, HANDLER, POOLS } from '../../support/oracles.ts'
import { test as base, type HttpReply, type Service } from '../../support/service.ts'

const LIST = '/defi-vaults/v1/vaults'
const DEPOSIT = '/defi-vaults/v1/defi/vault/deposit'
const CLAIM = '/defi-vaults/v1/defi/vault/claim'
const statusPath = (vault: unknown, query = `?userAddress=${USER}`) =>
  `/defi-vaults/v1/defi/vault/${vault}/deposit-status${query}`

const CROSS_CHAIN_WITHOUT_HASH = '/defi-vaults/v1/defi/cross-chain/status'
const crossChainPath = (hash: string) => `/defi-vaults/v1/defi/cross-chain/${encodeURIComponent(hash)}/status`

const [{ address: USER }] = ACCOUNTS.users
const HASH = `0x${'5c'.repeat(32)}`
const NOBODYS_VAULT = '0x00000000000000000000000000000000000000A1'
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'

const test = base
  .extend('chain', ({ service }) => service.backends.chains[0] as Service['backends']['chains'][number])
  .extend('usdc', ({ chain }) => chain.tokens.find(({ symbol }) => symbol === 'USDC')?.address as Address)
  .extend('syncVault', ({ chain }) => chain.vaults.find(({ type }) => type === 'sync')?.address as Address)
  .extend('asyncVault', ({ chain }) => chain.vaults.find(({ type }) => type === 'async')?.address as Address)
  .extend('twin', { scope: 'file' }, async ({ sharedService }) => {
    const { chains } = sharedService.backends
    const addresses = []
    for (const chain of chains) {
      // A contract's address depends on its deployer's nonce. An equal nonce gives the same address on both chains.
      await callRpc(chain, [{ method: 'anvil_setNonce', params: [ACCOUNTS.admin.address, '0x1000000'] }])
      const asset = chain.tokens[0]?.address as Address
      addresses.push(await deployLagoonVault(chain, { generation: '0.5', asset, name: 'Twin', symbol: 'TWIN' }))
    }
    const [address] = addresses as [Address]
    const places = chains.map(({ chainId }) => ({ chainId, address }))
    return { address, key: await sharedService.createClient(places) }
  })

const body = (vaultAddress: unknown, overrides: Record<string, unknown> = {}) => ({
  vaultAddress,
  amount: '1000000',
  userAddress: USER,
  ...overrides,
})

describe('A request', () => {
  const ask = (service: Service, key: string | null) => service.call('GET', LIST, { key })

  test('without a key is refused as `Missing API key`', async ({ service }) => {
    expectError(await ask(service, null), 'missing_api_key')
    expectError(await ask(service, ''), 'missing_api_key')
  })

  test('with another key is refused as `Invalid API key`', async ({ service }) => {
    const wrongCheck = service.apiKey.slice(0, -1) + (service.apiKey.endsWith('0') ? '1' : '0')
    const keys = ['x', 'undefined', wrongCheck, `${service.apiKey}0`, `${service.apiKey},${service.apiKey}`]
    for (const key of [...keys, someKey('AbCdE01234').text]) expectError(await ask(service, key), 'invalid_api_key')
  })

  test('with the key in the wrong header is refused as `Missing API key`', async ({ service, syncVault }) => {
    const headers = { authorization: `Bearer ${service.apiKey}` }
    expectError(await service.call('POST', DEPOSIT, { key: null, headers, body: body(syncVault) }), 'missing_api_key')
    const inQuery = `${LIST}?x-join-key=${service.apiKey}`
    expectError(await service.call('GET', inQuery, { key: null }), 'missing_api_key')
  })
})

describe('A user that is a contract of the vault or of the bridge is refused', () => {
  const PREPARATIONS = [
    ['deposit', {}],
    ['deposit', { amount: '1000000', srcChainId: ARBITRUM }],
    ['withdraw', {}],
    ['withdraw', { dstChainId: ARBITRUM }],
    ['claim', {}],
    ['claim', { kind: 'withdrawal', dstChainId: ARBITRUM }],
    ['cancel', {}],
  ] as const

  test.for(PREPARATIONS)('for %s with %o', async ([name, fields], { service, chain, usdc, asyncVault }) => {
    const there = service.backends.chains.find(({ chainId }) => chainId === ARBITRUM)
    const token = there?.tokens.find(({ symbol }) => symbol === 'USDC')?.address
    const isAcross = 'srcChainId' in fields || 'dstChainId' in fields
    const ask = (userAddress: unknown) => {
      const amount = name === 'deposit' || name === 'withdraw' ? { amount: '1000000' } : {}
      const other = 'srcChainId' in fields ? { srcToken: token } : 'dstChainId' in fields ? { dstToken: token } : {}
      const request = { vaultAddress: asyncVault, userAddress, ...amount, ...fields, ...other }
      return service.call('POST', `/defi-vaults/v1/defi/vault/${name}`, { body: request })
    }
    const contracts = [asyncVault, usdc, HANDLER, POOLS[chain.chainId], ...(isAcross ? [token, POOLS[ARBITRUM]] : [])]
    for (const contract of contracts) {
      expectError(await ask(contract), 'missing_or_invalid_user_address', ['userAddress'])
      expectError(await ask(contract?.toLowerCase()), 'missing_or_invalid_user_address', ['userAddress'])
    }
    expect((await ask(USER)).body.code).not.toBe('missing_or_invalid_user_address')
  })
})

describe('The key is checked before the request', () => {
  test.for<[string, string, string | undefined]>([
    ['fields are wrong', DEPOSIT, '{"vaultAddress":5}'],
    ['the body is not JSON', CLAIM, 'not JSON'],
    ['the body is too large', DEPOSIT, ' '.repeat(20_000)],
    ['there is no body', CLAIM, undefined],
  ])('when %s', async ([, path, text], { service }) => {
    expectError(await service.call('POST', path, { key: null, body: text }), 'missing_api_key')
    expectError(await service.call('POST', path, { key: 'x', body: text }), 'invalid_api_key')
  })

  test('when the path and the query are wrong', async ({ service }) => {
    expectError(await service.call('GET', statusPath('x', ''), { key: null }), 'missing_api_key')
  })
})

const NO_ADDRESS = USER.replace('A', 'a')
/**
 * Fields of each endpoint's request body, in documented order. Each field comes with an error code and a value that
 * the endpoint refuses with that code.
 */
const FIELDS: Record<string, readonly [field: string, code: ErrorCode, refused: unknown][]> = {
  [DEPOSIT]: [
    ['vaultAddress', 'missing_or_invalid_vault_address', NO_ADDRESS],
    ['amount', 'missing_or_invalid_amount', '0'],
    ['userAddress', 'missing_or_invalid_user_address', ZERO_ADDRESS],
    ['srcChainId', 'missing_or_invalid_src_chain_id', '8453'],
    ['srcToken', 'missing_or_invalid_src_token', NO_ADDRESS],
    ['chainId', 'missing_or_invalid_chain_id', 99_999],
  ],
  [CLAIM]: [
    ['vaultAddress', 'missing_or_invalid_vault_address', null],
    ['userAddress', 'missing_or_invalid_user_address', NO_ADDRESS],
    ['chainId', 'missing_or_invalid_chain_id', '8453'],
  ],
}
const REQUIRED: Record<string, readonly string[]> = {
  [DEPOSIT]: ['vaultAddress', 'amount', 'userAddress'],
  [CLAIM]: ['vaultAddress', 'userAddress'],
}

function bodyText(path: string, vault: Address, replaced: readonly (readonly [field: string, json: string])[]): string {
  const right = { ...body(vault), ...(path === CLAIM && { amount: undefined }) }
  const texts = new Map(
    Object.entries(right).flatMap(([name, value]) => (value ? [[name, JSON.stringify(value)]] : [])),
  )
  for (const [field, json] of replaced) texts.set(field, json)
  return `{${[...texts].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
}

describe('A body', () => {
  test.for(Object.entries(FIELDS).flatMap(([path, fields]) => fields.map((field) => [path, ...field] as const)))(
    'to %s whose %s is wrong is refused as `%s`',
    async ([path, field, code, value], { service, asyncVault }) => {
      const source = field.startsWith('src') && { srcChainId: 8453, srcToken: asyncVault }
      const right = JSON.parse(bodyText(path, asyncVault, []))
      expectError(await service.call('POST', path, { body: { ...right, ...source, [field]: value } }), code, [field])
    },
  )

  test.for(Object.entries(FIELDS))(
    'to %s with bad fields gets the error of the first, and all in its details, in order',
    async ([path, fields], { service }) => {
      const bad = fields.toReversed().map(([field, , value]) => [field, value] as const)
      const reply = await service.call('POST', path, { body: Object.fromEntries(bad) })
      const [[, code]] = fields as [(typeof fields)[number]]
      expectError(
        reply,
        code,
        fields.map(([field]) => field),
      )
    },
  )

  test.for(Object.entries(REQUIRED))(
    'to %s that is missing or empty lacks every required field',
    async ([path, fields], { service }) => {
      for (const empty of [undefined, '', '{}']) {
        const reply = await service.call('POST', path, { body: empty })
        expectError(reply, 'missing_or_invalid_vault_address', fields)
        for (const { issue } of reply.body.details) expect(issue).toBe('is required')
      }
    },
  )

  test('whose optional fields are null equals one without them', async ({ service, asyncVault }) => {
    const without = await service.call('POST', DEPOSIT, { body: body(asyncVault) })
    const nulls = body(asyncVault, { srcChainId: null, srcToken: null, chainId: null })
    const reply = await service.call('POST', DEPOSIT, { body: nulls })
    expect(reply).toMatchObject({ status: 200, body: without.body })
    const claim = { vaultAddress: asyncVault, userAddress: USER, chainId: null }
    expectError(await service.call('POST', CLAIM, { body: claim }), 'no_claimable_deposit')
  })

  test('with an unknown field that is null is refused by its name', async ({ service, asyncVault }) => {
    const misspelt = body(asyncVault, { srcChainId: null, srcChainID: null })
    expectError(await service.call('POST', DEPOSIT, { body: misspelt }), 'unknown_field', ['srcChainID'])
  })

  test.for([['srcChainID'], ['__proto__'], ['constructor'], [''], ['a.b']])(
    'with the unknown field %j is refused by that name',
    async ([field], { service, asyncVault }) => {
      for (const path of [DEPOSIT, CLAIM]) {
        const text = bodyText(path, asyncVault, [[field as string, '8453']])
        expectError(await service.call('POST', path, { body: text }), 'unknown_field', [field as string])
      }
    },
  )

  test('with several unknown fields names each, the long ones cut', async ({ service, asyncVault }) => {
    const reply = await service.call('POST', CLAIM, {
      body: { vaultAddress: asyncVault, userAddress: USER, srcChainID: 1, ['x'.repeat(5000)]: 2 },
    })
    expectError(reply, 'unknown_field', ['srcChainID', 'x'.repeat(64)])
  })

  test('with an unknown and a bad field gets the error of the bad one and both in its details', async ({
    service,
    asyncVault,
  }) => {
    const reply = await service.call('POST', DEPOSIT, { body: body(asyncVault, { srcChainID: 8453, amount: '0' }) })
    expectError(reply, 'missing_or_invalid_amount', ['amount', 'srcChainID'])
  })

  test.for([
    ['text', 'not JSON'],
    ['an array', '[]'],
    ['a number', '5'],
    ['null', 'null'],
    ['deeply nested', '['.repeat(16_000)],
  ])('that is %s is refused as `Invalid JSON body`', async ([, text], { service }) => {
    expectError(await service.call('POST', DEPOSIT, { body: text }), 'invalid_json')
    const headers = { 'content-type': 'application/octet-stream' }
    expectError(await service.call('POST', CLAIM, { body: text, headers }), 'invalid_json')
  })

  test('that is not UTF-8 is refused', async ({ service, asyncVault }) => {
    const bytes = Buffer.from(JSON.stringify(body(asyncVault, { amount: 'X' })))
    bytes[bytes.indexOf('X')] = 0xff
    const headers = { 'content-type': 'application/octet-stream' }
    expectError(await service.call('POST', DEPOSIT, { body: new Uint8Array(bytes), headers }), 'invalid_json')
    // Without the content type application/octet-stream, the gateway passes the body as text. It replaces the invalid
    // byte.
    const asText = await service.call('POST', DEPOSIT, { body: new Uint8Array(bytes) })
    expectError(asText, 'missing_or_invalid_amount', ['amount'])
  })

  test('that API Gateway passes in base64 is read', async ({ service, syncVault }) => {
    const headers = { 'content-type': 'application/octet-stream' }
    const { status } = await service.call('POST', DEPOSIT, { body: JSON.stringify(body(syncVault)), headers })
    expect(status).toBe(200)
  })

  test('of 16 KiB is read, and one byte more is refused as `Payload too large`', async ({ service, syncVault }) => {
    const text = JSON.stringify(body(syncVault))
    const { status } = await service.call('POST', DEPOSIT, { body: text.padEnd(16 * 1024) })
    expect(status).toBe(200)
    expectError(await service.call('POST', DEPOSIT, { body: text.padEnd(16 * 1024 + 1) }), 'payload_too_large')
  })

  test('is measured in bytes, not in characters', async ({ service }) => {
    const text = `{"vaultAddress":"${'\u20ac'.repeat(6000)}"}`
    expect(text.length).toBeLessThan(16 * 1024)
    expectError(await service.call('POST', DEPOSIT, { body: text }), 'payload_too_large')
  })

  test('beyond the limit of the gateway is refused with the same error', async ({ service }) => {
    expectError(await service.call('POST', DEPOSIT, { body: ' '.repeat(11 * 1024 * 1024) }), 'payload_too_large')
  })
})

describe('The source of a deposit', () => {
  test('with only a chain lacks its token', async ({ service, asyncVault }) => {
    const reply = await service.call('POST', DEPOSIT, { body: body(asyncVault, { srcChainId: 8453 }) })
    expectError(reply, 'missing_or_invalid_src_token', ['srcToken'])
  })

  test('with only a token lacks its chain', async ({ service, asyncVault, usdc }) => {
    const reply = await service.call('POST', DEPOSIT, { body: body(asyncVault, { srcToken: usdc }) })
    expectError(reply, 'missing_or_invalid_src_chain_id', ['srcChainId'])
  })

  test('on a chain that is not supported is refused as `Unsupported source chain`', async ({
    service,
    asyncVault,
    usdc,
  }) => {
    for (const srcChainId of [0, 2]) {
      const reply = await service.call('POST', DEPOSIT, { body: body(asyncVault, { srcChainId, srcToken: usdc }) })
      expectError(reply, 'unsupported_source_chain', ['srcChainId'])
    }
  })

  test('with one of two fields has its other problems in the details', async ({ service, asyncVault }) => {
    const reply = await service.call('POST', DEPOSIT, { body: body(asyncVault, { amount: '0', srcChainId: 2 }) })
    expectError(reply, 'missing_or_invalid_amount', ['amount', 'srcChainId', 'srcToken'])
  })

  test('with another token is refused as `Unsupported source token`', async ({ service, chain, asyncVault }) => {
    const dai = chain.tokens.find(({ symbol }) => symbol === 'DAI')?.address
    for (const srcToken of [dai, NOBODYS_VAULT, ZERO_ADDRESS]) {
      const reply = await service.call('POST', DEPOSIT, { body: body(asyncVault, { srcChainId: 8453, srcToken }) })
      expectError(reply, 'unsupported_source_token')
    }
  })
})

const VAULT_ROUTES: Record<
  string,
  (service: Service, vault: Address, chainId?: number, key?: string) => Promise<HttpReply>
> = {
  'A deposit': (service, vault, chainId, key = service.apiKey) =>
    service.call('POST', DEPOSIT, { key, body: body(vault, { chainId }) }),
  'A claim': (service, vaultAddress, chainId, key = service.apiKey) =>
    service.call('POST', CLAIM, { key, body: { vaultAddress, userAddress: USER, chainId } }),
  'A deposit status': (service, vault, chainId, key = service.apiKey) =>
    service.call('GET', statusPath(vault, `?userAddress=${USER}${chainId ? `&chainId=${chainId}` : ''}`), { key }),
}

describe('A vault that the client does not have is `Vault not found`', () => {
  test.for(Object.entries(VAULT_ROUTES))('%s: no such vault', async ([, ask], { service }) => {
    expectError(await ask(service, NOBODYS_VAULT), 'vault_not_found')
    expectError(await ask(service, ZERO_ADDRESS), 'vault_not_found')
  })

  test.for(Object.entries(VAULT_ROUTES))(
    '%s: no such vault on that chain',
    async ([, ask], { service, asyncVault }) => {
      expectError(await ask(service, asyncVault, 42161), 'vault_not_found')
      expectError(await ask(service, asyncVault, 1), 'vault_not_found')
    },
  )
})

describe('A vault address that the client has on two chains', () => {
  test.for(Object.entries(VAULT_ROUTES))(
    '%s needs a chainId',
    async ([what, ask], { service, twin: { address, key } }) => {
      expectError(await ask(service, address, undefined, key), 'ambiguous_vault_address')
      for (const chainId of [8453, 42161]) {
        const reply = await ask(service, address, chainId, key)
        if (what === 'A claim') expectError(reply, 'no_claimable_deposit')
        else expect(reply).toMatchObject({ status: 200, body: { chainId } })
      }
    },
  )

  test('is listed twice', async ({ service, twin: { address, key } }) => {
    const { body: list } = await service.call('GET', LIST, { key })
    expect(list.data).toMatchObject([
      { poolAddress: address, chainId: 42161 },
      { poolAddress: address, chainId: 8453 },
    ])
  })
})

describe('A deposit status', () => {
  test('of an invalid vault address is refused', async ({ service }) => {
    for (const text of ['vitalik.eth', NO_ADDRESS]) {
      expectError(await service.call('GET', statusPath(text)), 'missing_or_invalid_vault_address', ['vaultAddress'])
    }
  })

  test.for([
    ['nobody', ''],
    ['the zero address', `?userAddress=${ZERO_ADDRESS}`],
    ['two users', `?userAddress=${USER}&userAddress=${USER}`],
    ['a user under another name', `?useraddress=${USER}`],
  ])('of %s is refused', async ([, query], { service, asyncVault }) => {
    const reply = await service.call('GET', statusPath(asyncVault, query))
    expectError(reply, 'missing_or_invalid_user_address', ['userAddress'])
  })

  test('on an invalid chain is refused', async ({ service, asyncVault }) => {
    for (const chainId of ['', '5', '8453,8453']) {
      const reply = await service.call('GET', statusPath(asyncVault, `?userAddress=${USER}&chainId=${chainId}`))
      expectError(reply, 'missing_or_invalid_chain_id', ['chainId'])
    }
  })

  test('with several bad parts gets the error of the first and all in its details', async ({ service, asyncVault }) => {
    const all = await service.call('GET', statusPath('x', '?userAddress=y&chainId=z'))
    expectError(all, 'missing_or_invalid_vault_address', ['vaultAddress', 'userAddress', 'chainId'])
    const query = await service.call('GET', statusPath(asyncVault, '?chainId=z'))
    expectError(query, 'missing_or_invalid_user_address', ['userAddress', 'chainId'])
  })
})

describe('A cross-chain status', () => {
  test('without a hash is refused as `Missing required parameter: txHash`', async ({ service }) => {
    const reply = await service.call('GET', `${CROSS_CHAIN_WITHOUT_HASH}?srcChainId=8453`)
    expectError(reply, 'missing_tx_hash', ['txHash'])
    const nothing = await service.call('GET', CROSS_CHAIN_WITHOUT_HASH)
    expectError(nothing, 'missing_tx_hash', ['txHash', 'srcChainId'])
    const empty = await service.call('GET', `${crossChainPath('')}?srcChainId=x`)
    expectError(empty, 'missing_tx_hash', ['txHash', 'srcChainId'])
  })

  test('of an invalid hash is refused as `Invalid txHash`', async ({ service }) => {
    for (const hash of ['x', USER]) {
      expectError(await service.call('GET', `${crossChainPath(hash)}?srcChainId=8453`), 'invalid_tx_hash', ['txHash'])
    }
  })

  test('without its source chain is refused as `Missing required query parameter: srcChainId`', async ({ service }) => {
    for (const query of ['', '?', '?srcChainID=8453', '?chainId=8453', '?srcChainId=', '?srcChainId']) {
      expectError(await service.call('GET', crossChainPath(HASH) + query), 'missing_src_chain_id', ['srcChainId'])
    }
  })

  test('from a chain that is not a number is refused as `Invalid srcChainId`', async ({ service }) => {
    const reply = await service.call('GET', `${crossChainPath(HASH)}?srcChainId=0x2105`)
    expectError(reply, 'invalid_src_chain_id', ['srcChainId'])
  })

  test('from an unsupported chain is refused as `Unsupported srcChainId`', async ({ service }) => {
    const reply = await service.call('GET', `${crossChainPath(HASH)}?srcChainId=100`)
    expectError(reply, 'unsupported_src_chain_id', ['srcChainId'])
    expect(reply.body.details[0].issue).toBe('must be the id of a chain from which deposits can come')
  })

  test.for([[''], ['-1'], ['50']])('of the deposit with index %j is refused', async ([index], { service }) => {
    const reply = await service.call('GET', `${crossChainPath(HASH)}?srcChainId=8453&index=${index}`)
    expectError(reply, 'invalid_index', ['index'])
  })

  test('with several bad parts gets the error of the first and all in its details', async ({ service }) => {
    const all = await service.call('GET', `${crossChainPath('x')}?srcChainId=y&index=z`)
    expectError(all, 'invalid_tx_hash', ['txHash', 'srcChainId', 'index'])
    const query = await service.call('GET', `${crossChainPath(HASH)}?index=z`)
    expectError(query, 'missing_src_chain_id', ['srcChainId', 'index'])
    const unsupported = await service.call('GET', `${crossChainPath(HASH)}?srcChainId=2&index=50`)
    expectError(unsupported, 'unsupported_src_chain_id', ['srcChainId', 'index'])
  })
})

describe('Unknown query parameters', () => {
  test.for([
    ['GET', LIST],
    ['GET', '/health'],
    ['GET', '/openapi.json'],
  ] as const)('of %s %s are ignored', async ([method, path], { service }) => {
    const { status } = await service.call(method, `${path}?foo=bar&dstChainId=x&__proto__=1`)
    expect(status).toBe(200)
  })

  test('of a deposit, a claim and a deposit status are ignored', async ({ service, asyncVault }) => {
    const deposit = await service.call('POST', `${DEPOSIT}?amount=5`, { body: body(asyncVault) })
    expect(deposit.status).toBe(200)
    const claim = { vaultAddress: asyncVault, userAddress: USER }
    expectError(await service.call('POST', `${CLAIM}?foo=bar`, { body: claim }), 'no_claimable_deposit')
    const { status } = await service.call('GET', `${statusPath(asyncVault)}&foo=bar&vaultAddress=x&valueOf&__proto__=`)
    expect(status).toBe(200)
  })
})

describe('A route', () => {
  const ALLOWED: Record<string, string> = {
    [LIST]: 'GET, HEAD',
    [DEPOSIT]: 'POST',
    [CLAIM]: 'POST',
    [statusPath(NOBODYS_VAULT, '')]: 'GET, HEAD',
    [crossChainPath(HASH)]: 'GET, HEAD',
    [CROSS_CHAIN_WITHOUT_HASH]: 'GET, HEAD',
    '/health': 'GET, HEAD',
    '/openapi.json': 'GET, HEAD',
  }

  test.for(Object.entries(ALLOWED))(
    '%s allows only %s, which it names for other methods',
    async ([path, allowed], { service }) => {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => !allowed.includes(method))) {
        const reply = await service.call(method, path, { key: null })
        expectError(reply, 'method_not_allowed')
        expect(reply.headers.get('allow')).toBe(allowed)
      }
    },
  )

  test.for([...Object.keys(ALLOWED), '/nope', crossChainPath('')].map((path) => [path] as const))(
    '%s responds to HEAD like GET with only the headers, or refuses it',
    async ([path], { service }) => {
      for (const key of [service.apiKey, null]) {
        const [head, get] = [await service.call('HEAD', path, { key }), await service.call('GET', path, { key })]
        expect(head.body).toBeUndefined()
        expect(head.status).toBe(get.status)
        for (const name of ['content-type', 'cache-control', 'retry-after', 'allow'])
          expect(head.headers.get(name)).toBe(get.headers.get(name))
        expect(head.headers.get('x-request-id')).toMatch(/./)
      }
    },
  )

  test.for([
    ['/'],
    ['/nope'],
    ['/health/'],
    [LIST.toUpperCase()],
    ['/defi-vaults/v1/vaults/1'],
    ['/defi-vaults/v1//vaults'],
    ['/$default'],
    ['/.env'],
  ])('%s does not exist, with any method', async ([path], { service }) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      expectError(await service.call(method, path as string, { key: null }), 'not_found')
    }
  })
})

describe('A path with an empty part', () => {
  const OF_USER = '/defi-vaults/v1/defi/user'
  test.for<[string, ErrorCode, string[]]>([
    ['/defi-vaults/v1/defi/cross-chain//status', 'missing_tx_hash', ['txHash', 'srcChainId']],
    ['/defi-vaults/v1/defi/cross-chain//status?srcChainId=8453&index=x', 'missing_tx_hash', ['txHash', 'index']],
    [statusPath(''), 'missing_or_invalid_vault_address', ['vaultAddress']],
    [statusPath('', ''), 'missing_or_invalid_vault_address', ['vaultAddress', 'userAddress']],
    [`${OF_USER}//positions`, 'missing_or_invalid_user_address', ['userAddress']],
    [`${OF_USER}//deposits?limit=0`, 'missing_or_invalid_user_address', ['userAddress', 'limit']],
    [`${OF_USER}/${USER}/positions/`, 'missing_or_invalid_vault_address', ['vaultAddress']],
    [`${OF_USER}//positions/`, 'missing_or_invalid_user_address', ['userAddress', 'vaultAddress']],
    [`${OF_USER}//positions/${NOBODYS_VAULT}`, 'missing_or_invalid_user_address', ['userAddress']],
    ['/portfolio-indexor/token/id/', 'token_not_found', ['id']],
    ['/portfolio-indexor/token/address//native', 'unsupported_network', ['network']],
    ['/portfolio-indexor/markets/coins/', 'coin_not_found', ['id']],
  ])('%s lacks that parameter', async ([path, code, fields], { service }) => {
    const reply = await service.call('GET', path)
    expectError(reply, code, fields)
    expect(reply.body.details[0].issue).toBe('is required')
  })

  test('names the allowed method for other methods', async ({ service }) => {
    const reply = await service.call('POST', crossChainPath(''))
    expectError(reply, 'method_not_allowed')
    expect(reply.headers.get('allow')).toBe('GET, HEAD')
    expectError(await service.call('DELETE', '/auth/wallets/'), 'missing_or_invalid_address', ['address'])
  })
})

describe('A public endpoint', () => {
  test('/health needs no key and reports that the service works', async ({ service }) => {
    for (const key of [null, 'x']) {
      const { status, headers, body: answer } = await service.call('GET', '/health', { key })
      expect({ status, answer }).toEqual({ status: 200, answer: { status: 'ok', version: '0.0.0-test' } })
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-request-id')).toMatch(/./)
    }
  })

  test('/openapi.json needs no key and may be cached', async ({ service }) => {
    const { status, headers, body: answer } = await service.call('GET', '/openapi.json', { key: null })
    expect({ status, openapi: answer.openapi }).toEqual({ status: 200, openapi: '3.1.0' })
    expect(headers.get('cache-control')).toMatch(/^public, max-age=\d+$/)
  })
})

describe('Every response', () => {
  test('has an id of its own', async ({ service }) => {
    const replies = await Promise.all([1, 2, 3].map(() => service.call('GET', '/health')))
    expect(new Set(replies.map(({ headers }) => headers.get('x-request-id'))).size).toBe(3)
  })
})
