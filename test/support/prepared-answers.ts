import type { PinnedVault, Preparation } from '../../client/src/patterns.ts'
import { contentDigest, type Exchange } from '../../client/src/signature.ts'
import { preparationOf } from '../../client/src/verify.ts'
import { createDepositJourney, createWithdrawalJourney } from './cross-chain.ts'
import { type Service, USERS } from './service.ts'
import { openAsyncVault, openLagoonVault, openYieldVault, ROLES } from './vaults.ts'

const [ALICE, BOB] = USERS
const ONE = 10n ** 6n

/**
 * Recorded response of the service that contains transactions: its request, the signed HTTP exchange, and the vault's data for
 * verification.
 */
export type RecordedResponse = {
  readonly preparation: Preparation
  readonly input: Readonly<Record<string, unknown>>
  readonly answer: PreparedResponse
  readonly exchange: Exchange
  readonly vault: PinnedVault
}
/** Contract call as a wallet executes it. */
export type WalletCall = { readonly to: string; readonly data: string; readonly value: string }
/** Contract call with its chain id. */
export type Transaction = WalletCall & { readonly chainId: number }
/** Fields of a response on which a wallet acts. */
export type PreparedResponse = {
  readonly approval: readonly Transaction[]
  readonly operations: readonly Transaction[]
  readonly calls: { readonly calls: readonly WalletCall[]; readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

/**
 * Wraps a service to record its responses that contain transactions. `onAnswer` runs after each response, before the chain
 * changes.
 */
export function recordResponses(service: Service, onAnswer?: (one: RecordedResponse) => Promise<unknown>) {
  const recorded: RecordedResponse[] = []
  const call: Service['call'] = async (method, path, options = {}) => {
    const { key = service.apiKey, body } = options
    const url = `${service.baseUrl}${path}`
    const preparation = preparationOf({ method, url })
    if (preparation === undefined || key === null) return await service.call(method, path, options)
    const text = JSON.stringify(body)
    const headers = { 'x-join-key': key, 'content-digest': await contentDigest(text) }
    const reply = await fetch(url, { method, headers: { ...headers, 'content-type': 'application/json' }, body: text })
    const answered = await reply.text()
    const answer = JSON.parse(answered)
    if (reply.status === 200) {
      const listed = (await service.call('GET', '/defi-vaults/v1/vaults', { key })).body.data
      const { chainId, poolAddress, protocol, depositTokenAddress, yieldTokenAddress } = listed[0]
      const one: RecordedResponse = {
        preparation,
        input: JSON.parse(text),
        answer,
        exchange: {
          request: { method, url, body: text },
          answer: { status: reply.status, headers: Object.fromEntries(reply.headers), body: answered },
        },
        vault: {
          ...{ chainId, address: poolAddress, asset: depositTokenAddress, shareToken: yieldTokenAddress },
          protocol: protocol ?? 'erc4626',
        },
      }
      recorded.push(one)
      await onAnswer?.(one)
    }
    return { status: reply.status, headers: reply.headers, body: answer }
  }
  return { recorded, service: { ...service, call } }
}

/** Sends a user's requests to vaults of every protocol, on one chain and across chains, to record each kind of response. */
export async function requestEveryOperation(service: Service): Promise<void> {
  const savings = await openYieldVault(service)
  await savings.mint(ALICE.address, 500n * ONE)
  await savings.send(ALICE, await savings.deposit(ALICE, 100n * ONE))
  await savings.withdraw(ALICE, { amount: `${7n * ONE}` })
  await savings.withdraw(ALICE, { shares: `${7n * ONE}` })
  await savings.withdraw(ALICE, { max: true })
  await createDepositJourney(savings, service).ask(ALICE, 200n * ONE)
  await createWithdrawalJourney(savings, service).ask(ALICE, { amount: `${50n * ONE}` })
  await createWithdrawalJourney(savings, service).ask(ALICE, { max: true })

  const ether = await openYieldVault(service, { asset: 'WETH' })
  await createDepositJourney(ether, service).askInCoin(ALICE, 2n * 10n ** 18n)

  const tether = await openYieldVault(service, { asset: 'USDT', chainId: 42161 })
  await tether.mint(ALICE.address, 100n * ONE)
  await tether.approve(ALICE.address, 5n)
  await tether.deposit(ALICE, 100n * ONE)

  const lagoon = await openLagoonVault(service, { generation: '0.6' })
  await lagoon.request(BOB.address, 700n * ONE)
  await lagoon.mint(ALICE.address, 300n * ONE)
  await lagoon.send(ALICE, await lagoon.deposit(ALICE, 300n * ONE))
  await lagoon.cancel(ALICE)
  await lagoon.settle()
  await lagoon.withdraw(ALICE, { max: true })
  await lagoon.send(ALICE, await lagoon.claim(ALICE))
  await lagoon.send(ALICE, await lagoon.withdraw(ALICE, { amount: `${20n * ONE}` }))
  await lagoon.cancel(ALICE, 'withdrawal')
  await lagoon.settleForADay()
  await lagoon.claimWithdrawal(ALICE)
  await createWithdrawalJourney(lagoon, service).askForClaim(ALICE)
  await lagoon.withdraw(ALICE, { shares: `${10n ** 18n}` })
  await lagoon.mint(ALICE.address, 10n * ONE)
  await lagoon.deposit(ALICE, 10n * ONE)
  await createDepositJourney(lagoon, service).ask(ALICE, 200n * ONE)
  await lagoon.act(ROLES.valuationManager, 'updateNewTotalAssets', await lagoon.read('totalAssets')).catch(() => {})

  const standard = await openAsyncVault(service, { make: 'aggregated' })
  await standard.mint(ALICE.address, 200n * ONE)
  await standard.send(ALICE, await standard.deposit(ALICE, 100n * ONE))
  await createDepositJourney(standard as never, service).ask(ALICE, 200n * ONE)
  await standard.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 60n * ONE, 60n * ONE)
  await standard.withdraw(ALICE, { max: true })
  await standard.send(ALICE, await standard.claim(ALICE))
  await standard.send(ALICE, await standard.withdraw(ALICE, { shares: `${20n * ONE}` }))
  await standard.cancel(ALICE)
}
