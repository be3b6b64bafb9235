import { generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto'
import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  getAddress,
  type Hex,
  parseAbi,
  serializeErc6492Signature,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { parseSiweMessage } from 'viem/siwe'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { compiledContract } from '../../../sandbox/contracts.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { encodeBase58 } from '../../../sandbox/solana-wallet.ts'
import { ageSession, createSession, openSession, recoverAccount, registerUser } from '../../support/accounts.ts'
import { rewriteResults } from '../../support/chain-answers.ts'
import { someKeyPair } from '../../support/credentials.ts'
import { expectError } from '../../support/errors.ts'
import { test as base, type HttpReply, type Service, startNewContainers, USERS } from '../../support/service.ts'
import { listRpcCalls, startRecordingProxy } from '../../support/wire.ts'

const INIT = '/auth/wallets/init'
const WALLETS = '/auth/wallets'
const CHAIN = 8453
const NOBODY = '0x00000000000000000000000000000000000000A1'
const factoryAbi = parseAbi([
  'function create(address owner) returns (address)',
  'function addressOf(address owner) view returns (address)',
])

type Session = Awaited<ReturnType<typeof createSession>>
type WalletBegun = { readonly message: string; readonly expiresAt: string }

const test = base
  .extend('backendsOptions', { scope: 'file' }, () => ({ chainIds: [], bridgedChainIds: [CHAIN] }))
  .extend('factory', { scope: 'file' }, async ({ sharedService }): Promise<Address> => {
    const { bytecode } = await compiledContract('SmartAccountFactory')
    const address = await transact(sharedService, { data: bytecode })
    if (!address) throw new Error('The factory was not deployed.')
    return address
  })
  .extend('session', ({ service }) => createSession(service))

async function deployCode(service: Service, code: string): Promise<Address> {
  const length = (code.length / 2).toString(16).padStart(2, '0')
  const address = await transact(service, { data: `0x60${length}80600b6000396000f3${code}` })
  if (!address) throw new Error('The contract was not deployed.')
  return getAddress(address)
}

async function transact(service: Service, transaction: object): Promise<Address | undefined> {
  const [chain] = service.backends.chains
  if (!chain) throw new Error('There is no chain.')
  const params = [{ from: USERS[0].address, gas: '0x4c4b40', ...transaction }]
  const [hash] = await callRpc(chain, [{ method: 'eth_sendTransaction', params }])
  const receiptOf = async () => (await callRpc(chain, [{ method: 'eth_getTransactionReceipt', params: [hash] }]))[0]
  const receipt = await vi.waitUntil(receiptOf, { interval: 10, timeout: 10_000 })
  return (receipt as { contractAddress?: Address }).contractAddress
}

function someWallet() {
  return privateKeyToAccount(generatePrivateKey())
}

async function begin(service: Service, { headers }: Session, body: object): Promise<WalletBegun> {
  const reply = await service.call('POST', INIT, { headers, body: { chain: 'evm', ...body } })
  expect(reply).toMatchObject({ status: 200 })
  return reply.body
}

function link(service: Service, { headers }: Session, message: string, signature: string): Promise<HttpReply> {
  return service.call('POST', WALLETS, { headers, body: { message, signature } })
}

async function linkPlain(service: Service, session: Session, wallet = someWallet()): Promise<HttpReply> {
  const { message } = await begin(service, session, { address: wallet.address })
  return await link(service, session, message, await wallet.signMessage({ message }))
}

async function listed(service: Service, { headers }: Session): Promise<{ address: string }[]> {
  const { body } = await service.call('GET', WALLETS, { headers })
  return body.wallets
}

function someSolanaWallet() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const bytes = (key: KeyObject) => Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')
  return {
    address: encodeBase58(bytes(publicKey)),
    sign: (message: string) => encodeBase58(signBytes(null, Buffer.from(message), privateKey)),
  }
}

describe('The text to be signed', () => {
  test('is EIP-4361, with the domain, the chain, a nonce and ten minutes', async ({ service, session }) => {
    const { address } = someWallet()
    const { message, expiresAt } = await begin(service, session, { address: address.toLowerCase(), chainId: CHAIN })
    const parsed = parseSiweMessage(message)
    expect(parsed).toMatchObject({
      address,
      chainId: CHAIN,
      domain: 'localhost',
      uri: 'https://localhost',
      version: '1',
      nonce: expect.stringMatching(/^[0-9A-Za-z]{32}$/),
      statement: expect.stringMatching(/^Link this wallet/),
    })
    expect(parsed.expirationTime?.toISOString()).toBe(expiresAt)
    const minutes = (Date.parse(expiresAt) - Date.now()) / 60_000
    expect(Math.round(minutes)).toBe(10)
  })

  test('names the page of the request if it is one of ours', async ({ service, session: { headers } }) => {
    const { address } = someWallet()
    const domainFor = async (origin: string) => {
      const options = { headers: { ...headers, origin }, body: { address, chain: 'evm' } }
      return parseSiweMessage((await service.call('POST', INIT, options)).body.message).domain
    }
    expect(await domainFor('http://localhost:5173')).toBe('localhost:5173')
    expect(await domainFor('https://evil.example')).toBe('localhost')
  })

  test('has a similar form for Solana', async ({ service, session }) => {
    const { address } = someSolanaWallet()
    const { message, expiresAt } = await begin(service, session, { address, chain: 'solana' })
    expect(message.split('\n')).toEqual([
      'localhost wants you to sign in with your Solana account:',
      address,
      '',
      expect.stringMatching(/^Link this wallet/),
      '',
      'URI: https://localhost',
      'Version: 1',
      'Chain ID: mainnet',
      expect.stringMatching(/^Nonce: [0-9A-Za-z]{32}$/),
      expect.stringMatching(/^Issued At: .*Z$/),
      `Expiration Time: ${expiresAt}`,
    ])
  })

  test.for<[string, Parameters<typeof expectError>[1], object, string[]]>([
    ['no address', 'missing_or_invalid_address', { chain: 'evm' }, ['address']],
    [
      'a wrong checksum',
      'missing_or_invalid_address',
      { address: USERS[0].address.replace('F', 'f').replace('A', 'a'), chain: 'evm' },
      ['address'],
    ],
    ['an EVM address for Solana', 'missing_or_invalid_address', { address: NOBODY, chain: 'solana' }, ['address']],
    [
      '31 bytes of base58',
      'missing_or_invalid_address',
      { address: '1111111111111111111111111111111', chain: 'solana' },
      ['address'],
    ],
    ['no chain', 'missing_or_invalid_chain', { address: NOBODY }, ['chain']],
    ['another chain', 'missing_or_invalid_chain', { address: NOBODY, chain: 'bitcoin' }, ['chain']],
    [
      'a chain that is not ours',
      'missing_or_invalid_chain_id',
      { address: NOBODY, chain: 'evm', chainId: 2 },
      ['chainId'],
    ],
    ['an unknown field', 'unknown_field', { address: NOBODY, chain: 'evm', chainID: 1 }, ['chainID']],
  ])('is not given for %s', async ([, code, body, fields], { service, session: { headers } }) => {
    expectError(await service.call('POST', INIT, { headers, body }), code, fields)
  })
})

describe('A wallet is linked', () => {
  test('that is a plain account, without a read from a chain', async ({ service, session }) => {
    const wallet = someWallet()
    const reply = await linkPlain(service, session, wallet)
    const linked = { address: wallet.address, chain: 'evm', linkedAt: expect.stringMatching(/Z$/) }
    expect(reply).toMatchObject({ status: 201, body: linked })
    expect(await listed(service, session)).toEqual([linked])
    expect(service.rpc[CHAIN]?.bodies).toEqual([])
  })

  test('that is a contract on its chain', async ({ service, session, factory }) => {
    const owner = someWallet()
    const [data] = [encodeFunctionData({ abi: factoryAbi, functionName: 'create', args: [owner.address] })]
    const address = await accountOf(service, factory, owner.address)
    await transact(service, { to: factory, data })
    const { message } = await begin(service, session, { address, chainId: CHAIN })
    const reply = await link(service, session, message, await owner.signMessage({ message }))
    expect(reply).toMatchObject({ status: 201, body: { address } })
    expect(service.rpc[CHAIN]?.bodies).toHaveLength(1)
  })

  test('that is a contract accepting a signature of one byte', async ({ service, session }) => {
    const address = await deployCode(service, '631626ba7e60e01b60005260206000f3')
    const { message } = await begin(service, session, { address, chainId: CHAIN })
    expect(await link(service, session, message, '0x01')).toMatchObject({ status: 201, body: { address } })
  })

  test('that will be a contract once it is deployed', async ({ service, session, factory }) => {
    const owner = someWallet()
    const address = await accountOf(service, factory, owner.address)
    const { message } = await begin(service, session, { address, chainId: CHAIN })
    const signatureOf = async (signer: ReturnType<typeof someWallet>) =>
      serializeErc6492Signature({
        address: factory,
        data: encodeFunctionData({ abi: factoryAbi, functionName: 'create', args: [owner.address] }),
        signature: await signer.signMessage({ message }),
      })
    expectError(await link(service, session, message, await signatureOf(someWallet())), 'invalid_signature')
    expect(await link(service, session, message, await signatureOf(owner))).toMatchObject({ status: 201 })
  })

  test('that is on Solana', async ({ service, session }) => {
    const wallet = someSolanaWallet()
    const { message } = await begin(service, session, { address: wallet.address, chain: 'solana' })
    const reply = await link(service, session, message, wallet.sign(message))
    expect(reply).toMatchObject({ status: 201, body: { address: wallet.address, chain: 'solana' } })
  })

  test('to each user who proves to hold it', async ({ service, session }) => {
    const wallet = someWallet()
    expect(await linkPlain(service, session, wallet)).toMatchObject({ status: 201 })
    expect(await linkPlain(service, await createSession(service), wallet)).toMatchObject({ status: 201 })
  })

  test('with the same text after an attempt during an outage of the chain', async ({ service, session, factory }) => {
    const owner = someWallet()
    const address = await accountOf(service, factory, owner.address)
    await transact(service, {
      to: factory,
      data: encodeFunctionData({ abi: factoryAbi, functionName: 'create', args: [owner.address] }),
    })
    const { message } = await begin(service, session, { address, chainId: CHAIN })
    const signature = await owner.signMessage({ message })
    const wire = service.rpc[CHAIN]
    if (wire) wire.behaviour = 'answer 500'
    expectError(await link(service, session, message, signature), 'upstream_unavailable')
    wire?.reset()
    expect(await link(service, session, message, signature)).toMatchObject({ status: 201 })
  })
})

describe('A wallet is not linked', () => {
  test('in a session whose login was eleven minutes ago', async ({ service, session }) => {
    await ageSession(service, session, 11)
    const { headers } = session
    const body = { address: someWallet().address, chain: 'evm' }
    expectError(await service.call('POST', INIT, { headers, body }), 'fresh_login_required')
  })

  test('with the signature of another account', async ({ service, session }) => {
    const { message } = await begin(service, session, { address: someWallet().address, chainId: CHAIN })
    const signature = await someWallet().signMessage({ message })
    expectError(await link(service, session, message, signature), 'invalid_signature')
  })

  test('with the signature of another Solana account', async ({ service, session }) => {
    const { message } = await begin(service, session, { address: someSolanaWallet().address, chain: 'solana' })
    for (const signature of [someSolanaWallet().sign(message), 'x', '1'.repeat(64), '0x00']) {
      expectError(await link(service, session, message, signature), 'invalid_signature')
    }
  })

  test('whose signatures any account can forge', async ({ service, session }) => {
    // The System Program's address is a point of small order on the curve. One signature of it is valid for a quarter
    // of all messages.
    const address = '1'.repeat(32)
    for (let i = 0; i < 8; i += 1) {
      const { message } = await begin(service, session, { address, chain: 'solana' })
      expectError(await link(service, session, message, '1'.repeat(64)), 'invalid_signature')
    }
  })

  test.for<[string, string, { requestCount: number }]>([
    ['no hexadecimal', 'hunter2', { requestCount: 0 }],
    ['empty hexadecimal', '0x', { requestCount: 0 }],
    ['half a byte', '0x123', { requestCount: 0 }],
    ['too short', '0x1234', { requestCount: 1 }],
    ['all zero', `0x${'00'.repeat(65)}`, { requestCount: 1 }],
    ['far too long', `0x${'00'.repeat(4000)}`, { requestCount: 1 }],
  ])('with a signature that is %s', async ([, signature, { requestCount }], { service, session }) => {
    const { message } = await begin(service, session, { address: someWallet().address, chainId: CHAIN })
    expectError(await link(service, session, message, signature), 'invalid_signature')
    expect(service.rpc[CHAIN]?.bodies).toHaveLength(requestCount)
  })

  test('that is a contract whose code never ends or fails', async ({ service, session }) => {
    for (const code of ['5b600056', '60006000fd', '00']) {
      const address = await deployCode(service, code)
      const { message } = await begin(service, session, { address, chainId: CHAIN })
      expectError(await link(service, session, message, '0x01'), 'invalid_signature')
    }
    const calls = Object.values(service.rpc).flatMap(listRpcCalls).flat()
    expect(calls.length).toBeGreaterThanOrEqual(3)
    for (const { params } of calls) expect(Number((params[0] as { gas: string }).gas)).toBeLessThanOrEqual(5_000_000)
  })

  test('if only one of two hosts reports that the contract accepts the signature', async ({ service, session }) => {
    const [chain] = service.backends.chains
    const [honest, liar] = [service.rpc[CHAIN], await startRecordingProxy(chain?.rpcUrl ?? '')]
    onTestFinished(liar.stop)
    service.backends.setRpcUrls({ [CHAIN]: [liar.url, honest?.url ?? ''] })
    onTestFinished(() => service.backends.setRpcUrls({ [CHAIN]: [honest?.url ?? ''] }))
    const cold = await startNewContainers(service)
    onTestFinished(cold.stop)
    const yes = `0x1626ba7e${'0'.repeat(56)}`
    rewriteResults(liar, (result, { method }) => (method === 'eth_call' ? yes : result))
    const address = await deployCode(service, '00')
    const { message } = await begin(cold.service, session, { address, chainId: CHAIN })
    expectError(await link(cold.service, session, message, '0x01'), 'nodes_disagree')
    if (honest) honest.behaviour = 'answer 500'
    expectError(await link(cold.service, session, message, '0x01'), 'second_node_silent')
  })

  const alterations: [string, (message: string) => string][] = [
    ['another domain', (message) => message.replace('localhost', 'evil.example')],
    ['another nonce', (message) => message.replace(/Nonce: (\w)/, (_, first) => `Nonce: ${first === '0' ? '1' : '0'}`)],
    ['another chain', (message) => message.replace(`Chain ID: ${CHAIN}`, 'Chain ID: 1')],
    ['another address', (message) => message.replace(/0x\w{40}/, NOBODY)],
    ['a later expiration', (message) => message.replace(/Expiration Time: 20/, 'Expiration Time: 30')],
    ['a space at the end', (message) => `${message} `],
  ]
  test.for(alterations)(
    'with a text changed to %s, whether it is sent or only signed',
    async ([, alter], { service, session }) => {
      const wallet = someWallet()
      const { message } = await begin(service, session, { address: wallet.address, chainId: CHAIN })
      const altered = alter(message)
      expect(altered).not.toBe(message)
      const signature = await wallet.signMessage({ message: altered })
      expectError(await link(service, session, altered, signature), 'challenge_expired_or_used')
      expectError(await link(service, session, message, signature), 'invalid_signature')
      expect(await link(service, session, message, await wallet.signMessage({ message }))).toMatchObject({
        status: 201,
      })
    },
  )

  test('with the contract of another chain', async ({ service, session, factory }) => {
    const owner = someWallet()
    const address = await accountOf(service, factory, owner.address)
    const { message } = await begin(service, session, { address, chainId: CHAIN })
    // No smart account is deployed on this chain, and the signature lacks the data to deploy one (ERC-6492).
    const signature = await owner.signMessage({ message })
    expectError(await link(service, session, message, signature), 'invalid_signature')
  })

  test('a second time, with the same text or a new one', async ({ service, session }) => {
    const wallet = someWallet()
    const { message } = await begin(service, session, { address: wallet.address })
    const signature = await wallet.signMessage({ message })
    expect(await link(service, session, message, signature)).toMatchObject({ status: 201 })
    expectError(await link(service, session, message, signature), 'challenge_expired_or_used')
    expectError(await linkPlain(service, session, wallet), 'wallet_already_linked')
  })

  test('twice by parallel requests with the same text', async ({ service, session }) => {
    const wallet = someWallet()
    const { message } = await begin(service, session, { address: wallet.address })
    const signature = await wallet.signMessage({ message })
    const replies = await Promise.all([1, 2, 3].map(() => link(service, session, message, signature)))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 401, 401])
  })

  test('with the text of another user, or of ten minutes ago', async ({ clock, coldService: service }) => {
    const [session, other] = [await createSession(service), await createSession(service)]
    const wallet = someWallet()
    const { message } = await begin(service, session, { address: wallet.address })
    const signature = await wallet.signMessage({ message })
    expectError(await link(service, other, message, signature), 'challenge_expired_or_used')
    clock.pass(10 * 60 + 1)
    expectError(await link(service, session, message, signature), 'challenge_expired_or_used')
  })

  test('if the user has twenty, also in parallel requests', async ({ service, session }) => {
    for (let i = 0; i < 19; i += 1) expect(await linkPlain(service, session)).toMatchObject({ status: 201 })
    const replies = await Promise.all([1, 2, 3].map(() => linkPlain(service, session)))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    for (const reply of replies.filter(({ status }) => status === 409)) expectError(reply, 'too_many_wallets')
    expect(await listed(service, session)).toHaveLength(20)
  })

  test.for<[string, Parameters<typeof expectError>[1], object, string[]]>([
    ['no text', 'missing_or_invalid_message', { signature: '0x' }, ['message']],
    ['no signature', 'invalid_signature', { message: 'x' }, ['signature']],
    [
      'a signature that is too large',
      'invalid_signature',
      { message: 'x', signature: 'x'.repeat(10_001) },
      ['signature'],
    ],
    ['an unknown field', 'unknown_field', { message: 'x', signature: 'x', address: NOBODY }, ['address']],
  ])('with %s', async ([, code, body, fields], { service, session: { headers } }) => {
    expectError(await service.call('POST', WALLETS, { headers, body }), code, fields)
  })
})

describe('Wallets stay as they are', () => {
  type Key = ReturnType<typeof someKeyPair>
  type Recoverable = Session & { readonly recoveryKey: Key }
  /** Each function ends the session in one way, and returns the key with which the user logs in afterwards. */
  const ENDS: [string, (service: Service, session: Recoverable) => Promise<Key>][] = [
    [
      'ends',
      async (service, { headers, keyPair }) => {
        await service.call('POST', '/auth/logout', { headers })
        return keyPair
      },
    ],
    [
      'ends with a recovery',
      async (service, { email, recoveryKey }) => {
        const keyPair = someKeyPair()
        await recoverAccount(service, email, recoveryKey, (begun) => ({ firstFactorCredential: keyPair.create(begun) }))
        return keyPair
      },
    ],
    [
      'ends with its user, whose e-mail address is registered again',
      async (service, { email, headers }) => {
        const keyPair = someKeyPair()
        await service.call('DELETE', '/auth/user', { headers })
        await registerUser(service, (begun) => ({ firstFactorCredential: keyPair.create(begun) }), { email })
        return keyPair
      },
    ],
  ]
  const CHANGES: [string, (service: Service, session: Session, linked: string) => Promise<HttpReply>][] = [
    ['linked', (service, session) => linkPlain(service, session)],
    ['unlinked', (service, session, linked) => service.call('DELETE', `${WALLETS}/${linked}`, session)],
  ]
  const CASES = ENDS.flatMap(([how, end]) => CHANGES.map(([what, change]) => [what, how, change, end] as const))

  test.for(CASES)('when one is %s in a session that %s meanwhile', async ([, , change, end], { service }) => {
    const recoveryKey = someKeyPair()
    const session = { ...(await createSession(service, recoveryKey)), recoveryKey }
    const wallet = someWallet()
    await linkPlain(service, session, wallet)
    const reopen = async () => {
      const key = await end(service, session)
      const headers = await openSession(service, session.email, (begun) => ({ firstFactor: key.get(begun) }))
      return { headers, before: await service.call('GET', WALLETS, { headers }) }
    }
    let reopening: ReturnType<typeof reopen> | undefined
    service.table.hold = ({ action, body }) => {
      if (reopening || !/^UpdateItem .*"wallets"/.test(`${action} ${body}`)) return undefined
      reopening = reopen()
      return reopening
    }
    expectError(await change(service, session, wallet.address), 'invalid_session')
    const { headers, before } = (await reopening) ?? {}
    expect(before?.status).toBe(200)
    expect((await service.call('GET', WALLETS, { ...(headers && { headers }) })).body).toEqual(before?.body)
  })
})

describe('A wallet is unlinked', () => {
  test('in any case of its address, and can be linked again', async ({ service, session }) => {
    const wallet = someWallet()
    await linkPlain(service, session, wallet)
    await linkPlain(service, session)
    const path = `${WALLETS}/${wallet.address.toLowerCase()}`
    expect(await service.call('DELETE', path, session)).toMatchObject({ status: 204, body: undefined })
    expect((await listed(service, session)).map(({ address }) => address)).not.toContain(wallet.address)
    service.table.reset()
    expectError(await service.call('DELETE', path, session), 'wallet_not_found')
    // The service must not try to update the user's item, because a failed write costs as much as a successful one.
    const ofUsers = service.table.tries.filter(({ table }) => table.endsWith('users'))
    expect(ofUsers.map(({ action }) => action)).not.toContain('UpdateItem')
    expect(await linkPlain(service, session, wallet)).toMatchObject({ status: 201 })
    expect(await listed(service, session)).toMatchObject([{}, { address: wallet.address }])
  })

  test('only by its user', async ({ service, session }) => {
    const wallet = someWallet()
    await linkPlain(service, session, wallet)
    const other = await createSession(service)
    expectError(await service.call('DELETE', `${WALLETS}/${wallet.address}`, other), 'wallet_not_found')
    expect(await listed(service, session)).toHaveLength(1)
  })

  test('never for an invalid address', async ({ service, session }) => {
    const reply = await service.call('DELETE', `${WALLETS}/hunter2`, session)
    expectError(reply, 'missing_or_invalid_address', ['address'])
  })
})

async function accountOf(service: Service, factory: Address, owner: Address): Promise<Address> {
  const [chain] = service.backends.chains
  if (!chain) throw new Error('There is no chain.')
  const data = encodeFunctionData({ abi: factoryAbi, functionName: 'addressOf', args: [owner] })
  const [result] = await callRpc(chain, [{ method: 'eth_call', params: [{ to: factory, data }, 'latest'] }])
  return decodeFunctionResult({ abi: factoryAbi, functionName: 'addressOf', data: result as Hex })
}
