import { type Address, encodeFunctionData, type Hex, hexToBigInt, parseAbi, type TransactionReceipt } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect } from 'vitest'
import { ACCOUNTS, type LocalAccount } from '../../../sandbox/accounts.ts'
import { deployToken, deployYieldVault, type LagoonGeneration } from '../../../sandbox/deploy.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { transact } from '../../../sandbox/transactions.ts'
import { BNB, test as base } from '../../support/bnb.ts'
import { createWithdrawalJourney } from '../../support/cross-chain.ts'
import { expectError, parseAmountLimits } from '../../support/errors.ts'
import { decodeBridgeDeposit, encodeCall } from '../../support/oracles.ts'
import { type HttpReply, type Service, USERS } from '../../support/service.ts'
import {
  type Asset,
  expectFairGas,
  expectSuccess,
  openLagoonVault,
  openYieldVault,
  ROLES,
  type TestVault,
} from '../../support/vaults.ts'

const [ALICE, BOB] = USERS
const FEES = { exitRate: 37, haircutRate: 1_234 }
const BLACKLIST = parseAbi(['function blacklist(address account)', 'function unBlacklist(address account)'])
const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const ARBITRUM_USDC = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'

type Place = { readonly asset?: Asset; readonly chainId?: number }
/**
 * A kind of vault with instant withdrawals. Alice holds the shares of a deposit of 1000.000001 tokens. The share
 * price is not round.
 */
type Kind = { readonly kind: string; readonly open: (service: Service, place?: Place) => Promise<TestVault> }

const synchronous: Kind = {
  kind: 'a synchronous vault',
  async open(service, place) {
    const vault = await openYieldVault(service, place)
    const amount = vault.units('1000.000001')
    await vault.mint(ALICE.address, amount)
    expectSuccess(await vault.send(ALICE, await vault.deposit(ALICE, amount)))
    await vault.mint(vault.address, vault.units('33.333333'))
    return vault
  },
}

async function openLagoonWithShares(service: Service, generation: LagoonGeneration, place: Place = {}) {
  const vault = await openLagoonVault(service, { generation, ...place, ...(generation === '0.6' && FEES) })
  await vault.request(BOB.address, vault.units('777.7'))
  await vault.request(ALICE.address, vault.units('1000.000001'))
  await vault.settle()
  const claimable = await vault.read('claimableDepositRequest', 0n, ALICE.address)
  await vault.act(ALICE.address, 'deposit', claimable, ALICE.address, ALICE.address)
  await vault.settle(vault.units('33.333333'))
  return vault
}

const atOnce: Kind = {
  kind: 'a Lagoon 0.6 vault that pays at once',
  async open(service, place) {
    const vault = await openLagoonWithShares(service, '0.6', place)
    await vault.settleForADay(vault.units('1.234567'))
    return vault
  },
}

async function close(vault: TestVault, generation: LagoonGeneration) {
  const total = await vault.read('totalAssets')
  await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', total)
  await vault.act(ROLES.admin, 'initiateClosing')
  await vault.act(ROLES.safe, 'close', ...(generation === '0.1' ? [] : [total]))
}

const closed = (generation: LagoonGeneration): Kind => ({
  kind: `a closed Lagoon ${generation} vault`,
  async open(service, place) {
    const vault = await openLagoonWithShares(service, generation, place)
    await close(vault, generation)
    return vault
  },
})

const KINDS = [synchronous, atOnce, ...(['0.1', '0.4', '0.5', '0.6'] as const).map(closed)]
const ASSETS = ['USDC', 'DAI'] as const

type Journey = ReturnType<typeof createWithdrawalJourney<TestVault>>

async function sendOff(journey: Journey, amountInput: object) {
  const { vault } = journey
  const before = await balances(journey)
  const reply = await journey.ask(ALICE, amountInput)
  expect(reply).toMatchObject({ status: 200, body: { isCrossChain: true, isAsync: false } })
  const receipts = await vault.send(ALICE, reply)
  expectSuccess(receipts)
  expectFairGas(reply, receipts)
  await journey.fill(receipts)
  const after = await balances(journey)
  expect(await journey.allowance(ALICE.address)).toBe(0n)
  return { reply, receipts, remainder: after.here - before.here, arrived: after.there - before.there }
}

async function balances({ vault, arrivedFor }: Journey) {
  const [here, there] = await Promise.all([vault.balanceOf(ALICE.address), arrivedFor(ALICE.address)])
  return { here, there }
}

const sharesOf = (vault: TestVault) => vault.read('balanceOf', ALICE.address)
const transferIn = ({ body }: HttpReply) => decodeBridgeDeposit(body.operations.at(-1).data)
const argumentOf = ({ data }: { data: Hex }, place: number) =>
  hexToBigInt(`0x${data.slice(10 + place * 64, 74 + place * 64)}`)

const test = base
  .extend('sharedVault', { scope: 'file' }, ({ sharedService }) => synchronous.open(sharedService))
  /**
   * A withdrawal of USDC from a synchronous vault on Base to Arbitrum. Tests that change nothing in the vault share
   * it.
   */
  .extend('journey', ({ service, sharedVault }) => createWithdrawalJourney(sharedVault, service))

describe('An instant withdrawal arrives on another chain as promised, to the unit', () => {
  const cases = KINDS.map((kind, index) => ({
    ...kind,
    asset: ASSETS[index % 2] ?? 'USDC',
    chainId: index % 4 < 2 ? 8453 : 42161,
  }))

  test.for(cases)('$asset from $kind on $chainId', async ({ open, asset, chainId }, { service, bridge }) => {
    const vault = await open(service, { asset, chainId })
    const journey = createWithdrawalJourney(vault, service)
    const third = (await sharesOf(vault)) / 3n
    const amount = vault.units('100.000001')
    for (const amountInput of [{ shares: `${third}` }, { amount: `${amount}` }, { max: true }]) {
      const sharesBefore = await sharesOf(vault)
      const { reply, remainder, arrived } = await sendOff(journey, amountInput)
      const { approval, operations, quote, withdrawal } = reply.body
      const { offer } = bridge.quoteBehind(reply)
      const output = BigInt(offer.outputAmount)
      const sent = BigInt(quote.inputAmount)
      expect({ remainder, arrived }).toEqual({ remainder: BigInt(withdrawal.remainder), arrived: output })
      expect(sent + remainder).toBe(BigInt(withdrawal.assets) + BigInt(withdrawal.claimedAssets))
      expect(sent).toBe('amount' in amountInput ? amount : BigInt(withdrawal.assets))
      expect(`${sharesBefore - (await sharesOf(vault))}`).toBe(withdrawal.shares)
      expect(withdrawal.isEstimate).toBe(false)

      expect(approval).toHaveLength(1)
      expect(operations.map(({ to }: { to: Address }) => to)).toEqual([vault.address, journey.pool])
      expect(quote).toMatchObject({ outputAmount: `${output}`, feeTotal: `${sent - output}` })
      expect(transferIn(reply)).toEqual({
        depositor: ALICE.address,
        recipient: ALICE.address,
        inputToken: vault.token,
        outputToken: journey.token.address,
        inputAmount: sent,
        outputAmount: output,
        destinationChainId: BigInt(journey.destination.chainId),
        exclusiveRelayer: service.backends.relayer.address,
        quoteTimestamp: Number(offer.timestamp),
        fillDeadline: Number(offer.fillDeadline),
        exclusivity: offer['exclusivityDeadline'],
        message: '0x',
      })
    }
    expect(await sharesOf(vault)).toBe(0n)
  })

  test('An instant withdrawal from Lagoon 0.6 demands at least the amount sent to the bridge', async ({ service }) => {
    const vault = await atOnce.open(service)
    const journey = createWithdrawalJourney(vault, service)
    for (const amountInput of [{ shares: '20000000000000000000' }, { max: true }, { amount: '20000000' }]) {
      const { body } = await journey.ask(ALICE, amountInput)
      expect(`${argumentOf(body.operations[0], 2)}`).toBe(body.quote.inputAmount)
    }
  })

  test('A vault that reports a payment without paying takes nothing from the wallet', async ({ service }) => {
    const vault = await synchronous.open(service)
    const journey = createWithdrawalJourney(vault, service)
    await vault.mint(ALICE.address, vault.units('5000'))
    // The false bytecode returns 4,000 USDC as the result of every call and pays nothing.
    const lie = `0x63${(4_000_000_000).toString(16)}5f5260205ff3`
    await callRpc(vault.chain, [{ method: 'anvil_setCode', params: [vault.address, lie] }])
    for (const amountInput of [{ shares: '1000000' }, { amount: `${vault.units('100')}` }]) {
      expectError(await journey.ask(ALICE, amountInput), 'amount_too_low_for_bridge')
    }
  })

  test('The maximum of a closed vault is settled amounts, unclaimed shares and shares in the wallet', async ({
    service,
  }) => {
    const vault = await openLagoonWithShares(service, '0.5')
    const shares = (await sharesOf(vault)) / 4n
    await vault.act(ALICE.address, 'requestRedeem', shares, ALICE.address, ALICE.address)
    await vault.request(ALICE.address, vault.units('50'))
    await close(vault, '0.5')
    const journey = createWithdrawalJourney(vault, service)

    const some = await journey.ask(ALICE, { amount: '20000000' })
    // The withdrawal also claims an amount that was settled earlier. That amount is not sent to the other chain and
    // stays with the user.
    expect(some.body.quote.inputAmount).toBe('20000000')
    expect(some.body.withdrawal.remainder).toBe(some.body.withdrawal.claimedAssets)
    expect(BigInt(some.body.withdrawal.claimedAssets)).toBeGreaterThan(0n)

    const { reply, remainder, arrived } = await sendOff(journey, { max: true })
    expect(reply.body.operations).toHaveLength(4)
    expect({ remainder, arrived: `${arrived}` }).toEqual({ remainder: 0n, arrived: reply.body.quote.outputAmount })
    expect(await sharesOf(vault)).toBe(0n)
  })

  test('6 decimals arrive as 18, and 18 as 6', async ({ withBnb: { service, bridge } }) => {
    for (const [from, to] of [
      [8453, BNB.CHAIN],
      [BNB.CHAIN, 8453],
    ] as const) {
      const vault = await openYieldVault(service, { chainId: from })
      const amount = from === BNB.CHAIN ? 50_000_000_000_000_000_001n : 50_000_001n
      await vault.mint(ALICE.address, amount)
      expectSuccess(await vault.send(ALICE, await vault.deposit(ALICE, amount)))
      const { reply, remainder, arrived } = await sendOff(createWithdrawalJourney(vault, service, to), { max: true })
      expect({ remainder, arrived }).toEqual({
        remainder: 0n,
        arrived: BigInt(bridge.quoteBehind(reply).offer.outputAmount),
      })
      expect(reply.body.quote.inputAmount).toBe(`${amount}`)
    }
  })

  test('A sufficient allowance is used, and a smaller one is replaced as the token requires', async ({ service }) => {
    const vault = await synchronous.open(service, { asset: 'USDT' })
    const journey = createWithdrawalJourney(vault, service)
    await journey.approve(ALICE.address, 7n)
    const { reply } = await sendOff(journey, { amount: '20000000' })
    expect(reply.body.approval).toHaveLength(2)
    await journey.approve(ALICE.address, 20_000_000n)
    expect((await sendOff(journey, { amount: '20000000' })).reply.body.approval).toEqual([])
  })

  test("The vault's own chain as the destination makes a withdrawal without a transfer", async ({ journey }) => {
    const own = { dstChainId: 8453, dstToken: journey.vault.token }
    const { body } = await journey.ask(ALICE, { shares: '1000000' }, own)
    expect(body).toMatchObject({ isCrossChain: false, approval: [], operations: [{ to: journey.vault.address }] })
    expect(body.quote ?? body.withdrawal.remainder).toBeUndefined()
  })
})

test('A unit that the vault pays beyond its report stays in the wallet as the remainder', async ({ service }) => {
  const vault = await openYieldVault(service)
  for (const [user, amount] of [
    [ALICE, 1_500_000_000n],
    [BOB, 1_499_999_999n],
  ] as const) {
    await vault.mint(user.address, amount)
    expectSuccess(await vault.send(user, await vault.deposit(user, amount)))
  }
  await vault.mint(vault.address, 1_000_000_000n)
  const { reply, remainder } = await sendOff(createWithdrawalJourney(vault, service), { max: true })
  const { withdrawal, quote } = reply.body
  expect(withdrawal).toMatchObject({ assets: '2000000000', remainder: '1' })
  expect({ sent: quote.inputAmount, remainder }).toEqual({ sent: '1999999999', remainder: 1n })
})

describe('An unsupported destination', () => {
  const SHARES = { shares: '1000000' }
  const countRpcRequests = ({ rpc }: Service) => Object.values(rpc).flatMap(({ bodies }) => bodies).length

  test.for([
    { chain: 'Gnosis, where the bridge does not go', dstChainId: 100, fields: undefined },
    { chain: 'Solana', dstChainId: 1151111081099710, fields: ['dstChainId'] },
    { chain: 'a chain that nobody knows', dstChainId: 2, fields: ['dstChainId'] },
  ])('$chain is no destination chain', async ({ dstChainId, fields }, { service, journey }) => {
    for (const wire of Object.values(service.rpc)) wire.reset()
    expectError(await journey.ask(ALICE, SHARES, { dstChainId }), 'unsupported_destination_chain', fields)
    expect(countRpcRequests(service)).toBe(0)
  })

  test.for([
    { token: 'another asset that the bridge takes', dstToken: '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1' },
    { token: "the vault's own asset at its address here", dstToken: BASE_USDC },
    { token: 'USDC.e, the old one', dstToken: '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8' },
    { token: 'the native coin', dstToken: '0x0000000000000000000000000000000000000000' },
  ])('$token is no destination token', async ({ dstToken }, { service, journey }) => {
    for (const wire of Object.values(service.rpc)) wire.reset()
    expectError(await journey.ask(ALICE, SHARES, { dstToken }), 'unsupported_destination_token')
    expect(countRpcRequests(service)).toBe(0)
  })

  test("Another token on the vault's own chain is no destination either", async ({ journey }) => {
    const more = { dstChainId: 8453, dstToken: ARBITRUM_USDC }
    expectError(await journey.ask(ALICE, SHARES, more), 'unsupported_destination_token')
  })

  test.for([
    { more: { dstToken: undefined }, code: 'missing_or_invalid_dst_token', field: 'dstToken' },
    { more: { dstToken: 'USDC' }, code: 'missing_or_invalid_dst_token', field: 'dstToken' },
    { more: { dstChainId: undefined }, code: 'missing_or_invalid_dst_chain_id', field: 'dstChainId' },
    { more: { dstChainId: '42161' }, code: 'missing_or_invalid_dst_chain_id', field: 'dstChainId' },
  ] as const)('$more is incomplete or invalid', async ({ more, code, field }, { journey }) => {
    expectError(await journey.ask(ALICE, SHARES, more), code, [field])
  })

  test('A vault whose asset the bridge does not support pays only on its own chain', async ({ service, journey }) => {
    const [chain] = service.backends.chains as [Service['backends']['chains'][number]]
    const asset = await deployToken(chain, { name: 'Local dollar', symbol: 'USDC', decimals: 6 })
    const vaultAddress = await deployYieldVault(chain, { asset, name: 'Savings', symbol: 'S' })
    const key = await service.createClient([{ chainId: 8453, address: vaultAddress }])
    const destination = { dstChainId: 42161, dstToken: journey.token.address }
    const reply = await service.call('POST', '/defi-vaults/v1/defi/vault/withdraw', {
      key,
      body: { vaultAddress, userAddress: ALICE.address, ...SHARES, ...destination },
    })
    expectError(reply, 'cross_chain_not_available')
  })
})

describe('A vault without instant withdrawals', () => {
  test.for(['0.4', '0.6'] as const)(
    'An open Lagoon %s vault pays only on its own chain',
    async (generation, { service }) => {
      const vault = await openLagoonWithShares(service, generation)
      const journey = createWithdrawalJourney(vault, service)
      const shares = { shares: '20000000000000000000' }
      for (const amountInput of [shares, { amount: '20000000' }, { max: true }]) {
        expectError(await journey.ask(ALICE, amountInput), 'cross_chain_not_available', ['dstChainId'])
      }
      expect((await vault.withdraw(ALICE, shares)).body).toMatchObject({ isAsync: true, isCrossChain: false })
    },
  )

  test('A vault that refuses has the same reason as on its own chain', async ({ service }) => {
    const vault = await synchronous.open(service)
    const journey = createWithdrawalJourney(vault, service)
    expectError(await journey.ask(ALICE, { amount: '2000000000' }), 'amount_exceeds_balance', ['amount'])
    await vault.act(ROLES.admin, 'pause')
    expectError(await journey.ask(ALICE, { max: true }), 'vault_is_paused')
  })
})

describe('The limits of the bridge', () => {
  test('Too small and too large amounts and a fee above a tenth are refused', async ({ journey, bridge }) => {
    expectError(await journey.ask(ALICE, { amount: '1' }), 'amount_too_low_for_bridge', ['amount'])
    expectError(await journey.ask(ALICE, { amount: '250000' }), 'amount_too_low_for_bridge', ['amount'])
    bridge.changeQuote((offer) => ({ ...offer, limits: { ...(offer['limits'] as object), maxDeposit: '19999999' } }))
    // The error must name an amount that works, also if the request named shares or the maximum.
    for (const amountInput of [{ amount: '20000000' }, { shares: '20000000' }, { max: true }]) {
      const reply = await journey.ask(ALICE, amountInput)
      expectError(reply, 'amount_too_high_for_bridge', ['amount'])
      expect((await journey.ask(ALICE, { amount: `${parseAmountLimits(reply).atMost}` })).body.quote.inputAmount).toBe(
        '19999999',
      )
    }
    bridge.changeQuote((offer) => ({ ...offer, outputAmount: '17999999' }))
    expectError(await journey.ask(ALICE, { amount: '20000000' }), 'upstream_bad_answer')
    bridge.changeQuote((offer) => ({ ...offer, outputAmount: '18000000' }))
    expect((await journey.ask(ALICE, { amount: '20000000' })).status).toBe(200)
  })

  test('A quote whose times the pool would refuse is a bad upstream response', async ({ journey, bridge }) => {
    bridge.changeQuote((offer) => ({ ...offer, fillDeadline: offer.timestamp }))
    expectError(await journey.ask(ALICE, { amount: '20000000' }), 'upstream_bad_answer')
  })

  test('No transfer is prepared while a pool takes or pays nothing', async ({ service, journey }) => {
    const { relayer } = service.backends
    for (const [chainId, what] of [
      [8453, 'deposits'],
      [42161, 'fills'],
    ] as const) {
      await relayer.pause(chainId, what, true)
      expectError(await journey.ask(ALICE, { amount: '20000000' }), 'cross_chain_not_available')
      await relayer.pause(chainId, what, false)
    }
    expect((await journey.ask(ALICE, { amount: '20000000' })).status).toBe(200)
  })
})

describe('A user with code', () => {
  const CONTRACT = '0x60006000fd'
  const setCode = async (service: Service, chainId: number, address: Address, code: Hex) => {
    const chain = service.backends.chains.find((candidate) => candidate.chainId === chainId)
    if (chain) await callRpc(chain, [{ method: 'anvil_setCode', params: [address, code] }])
  }
  const openUser = async ({ vault }: Journey): Promise<LocalAccount> => {
    const privateKey = generatePrivateKey()
    const { address } = privateKeyToAccount(privateKey)
    const shares = vault.units('30')
    await transact(vault.chain, [
      { label: 'transfer', from: ALICE.address, to: vault.address, data: encodeCall('transfer', [address, shares]) },
    ])
    await callRpc(vault.chain, [{ method: 'anvil_setBalance', params: [address, '0xde0b6b3a7640000'] }])
    return { address, privateKey }
  }

  test('A smart account that does not exist on the destination is refused', async ({ service, journey }) => {
    const user = await openUser(journey)
    await setCode(service, 8453, user.address, CONTRACT)
    expectError(await journey.ask(user, { max: true }), 'cross_chain_not_available')
    await setCode(service, 42161, user.address, CONTRACT)
    expect((await journey.ask(user, { max: true })).body).toMatchObject({ simulation: { status: 'success' } })
  })

  test.for([
    { what: 'delegates to a contract by EIP-7702', chainId: 8453, code: `0xef0100${'63c0'.repeat(10)}` },
    // A transfer to a contract works, because without a message the bridge does not call the recipient.
    { what: 'is a contract on the destination alone', chainId: 42161, code: CONTRACT },
  ] as const)('An account that $what gets its tokens', async ({ chainId, code }, { service, journey }) => {
    const user = await openUser(journey)
    await setCode(service, chainId, user.address, code)
    const reply = await journey.ask(user, { max: true })
    const receipts: TransactionReceipt[] = await journey.vault.send(user, reply)
    expectSuccess(receipts)
    await journey.fill(receipts)
    expect(`${await journey.arrivedFor(user.address)}`).toBe(reply.body.quote.outputAmount)
  })
})

describe('Without a simulation', () => {
  const answering = (service: Service, spoil: (result: unknown) => object) => {
    const wire = service.rpc[8453]
    if (!wire) throw new Error('There is no such wire')
    wire.rewrite = (answers, request) => {
      const calls: { id: number; method: string }[] = JSON.parse(request)
      const simulations = new Set(calls.filter(({ method }) => method === 'eth_simulateV1').map(({ id }) => id))
      const items: { id: number; result?: unknown }[] = JSON.parse(answers)
      return JSON.stringify(
        items.map((item) => (simulations.has(item.id) ? { jsonrpc: '2.0', id: item.id, ...spoil(item.result) } : item)),
      )
    }
  }
  const refusing = (service: Service) =>
    answering(service, () => ({ error: { code: -32601, message: 'the method eth_simulateV1 does not exist' } }))

  const leavingOut = (service: Service) =>
    answering(service, (result) => ({
      result: (result as { calls: object[] }[]).map(({ calls }) => ({
        calls: calls.map((call) => ({ ...call, logs: undefined })),
      })),
    }))

  test('an exact amount of the vault is sent, with the upper gas estimate', async ({ coldService: service }) => {
    const vault = await synchronous.open(service)
    const journey = createWithdrawalJourney(vault, service)
    refusing(service)
    const reply = await journey.ask(ALICE, { amount: '20000000' })
    expect(reply.body).toMatchObject({
      simulation: { status: 'unavailable' },
      estimatedGas: '720000',
      quote: { inputAmount: '20000000' },
      withdrawal: { isEstimate: true, remainder: '0' },
    })
    const receipts = await vault.send(ALICE, reply)
    expectSuccess(receipts)
    await journey.fill(receipts)
  })

  test('the minimum that the call itself accepts is sent', async ({ coldService: service }) => {
    const journey = createWithdrawalJourney(await atOnce.open(service), service)
    refusing(service)
    const { body } = await journey.ask(ALICE, { max: true })
    const { assets, remainder } = body.withdrawal
    expect(`${argumentOf(body.operations[0], 2)}`).toBe(body.quote.inputAmount)
    expect(BigInt(body.quote.inputAmount) + BigInt(remainder)).toBe(BigInt(assets))
    expect(BigInt(remainder)).toBeGreaterThan(0n)
  })

  test.for<[string, (service: Service) => void]>([
    ['that does not simulate', refusing],
    ['that leaves out the logs of calls', leavingOut],
  ])(
    'the payment for shares is unknown from a node %s, and nothing is sent',
    async ([, spoil], { coldService: service }) => {
      const journey = createWithdrawalJourney(await synchronous.open(service), service)
      spoil(service)
      expectError(await journey.ask(ALICE, { shares: '20000000' }), 'cross_chain_not_available', ['dstChainId'])
    },
  )
})

test('A vault that cannot pay the user is an error with its reason', async ({ service }) => {
  const vault = await closed('0.5').open(service)
  const act = (functionName: 'blacklist' | 'unBlacklist') =>
    transact(vault.chain, [
      {
        label: functionName,
        from: ACCOUNTS.admin.address,
        to: vault.token,
        data: encodeFunctionData({ abi: BLACKLIST, functionName, args: [ALICE.address] }),
      },
    ])
  await act('blacklist')
  const reply = await createWithdrawalJourney(vault, service).ask(ALICE, { max: true })
  await act('unBlacklist')
  expectError(reply, 'withdrawal_refused', ['vaultAddress'])
})
