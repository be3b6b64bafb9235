import * as fc from 'fast-check'
import type { Address, Hex } from 'viem'
import { expect } from 'vitest'
import type { AsyncVaultKind } from '../../../sandbox/deploy.ts'
import { transact } from '../../../sandbox/transactions.ts'
import { expectModelledResponses, recordAfterEmptyBlocks, type VaultModel } from '../../support/models.ts'
import { buildTransaction, encodeCall } from '../../support/oracles.ts'
import { createUserViews } from '../../support/records.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import { createEmptyBlocks } from '../../support/silence.ts'
import { openAsyncVault, ROLES, type TestAsyncVault } from '../../support/vaults.ts'
import type { RecordingProxy } from '../../support/wire.ts'

/**
 * This test makes random histories of two users in ERC-7540 vaults, both on a chain and in a model. The model follows
 * the standard and the API's documentation. It shares no code with the service, so it cannot repeat the service's
 * errors.
 */
const USER_ADDRESSES = USERS.slice(0, 2).map(({ address }) => address)
const VAULTS = [
  { make: 'aggregated', decimals: 18 },
  { make: 'counted', decimals: 6 },
  { make: 'syncDeposits', decimals: 6 },
] as const
const WAD = 10n ** 18n
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

type Side = 'deposit' | 'redeem'
type Status = 'pending' | 'claimable' | 'completed' | 'cancelled'
/**
 * A request to a vault. For a deposit, `pending` is in assets and `claimable` in shares. For a redemption, `pending`
 * is in shares and `claimable` in assets.
 */
type Request = {
  readonly id: bigint
  pending: bigint
  claimable: bigint
  price: bigint
  isCancelling: boolean
  cancelled: bigint
}
type Account = {
  shares: bigint
  readonly requests: Readonly<Record<Side, Request[]>>
  readonly deposits: RequestQueue
  readonly withdrawals: RequestQueue
  /**
   * Origins of the account's shares, oldest first. `deposit` is the index of a deposit, or null for shares from
   * another account.
   */
  readonly sources: { readonly deposit: number | null; readonly shares: bigint }[]
  deposited: bigint
  withdrawn: bigint
  used: boolean
}

const min = (left: bigint, right: bigint) => (left < right ? left : right)
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
const up = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor

/**
 * An account's requests, oldest first. A cancellation names its request by id. A claim names no request, so it
 * consumes the oldest requests that are not cancelled.
 */
class RequestQueue {
  readonly requests: { readonly id: bigint; readonly amount: bigint; cancelled: bigint }[] = []
  private readonly claims: { readonly taken: bigint; readonly paid: bigint; readonly among: number }[] = []

  ask(id: bigint, amount: bigint): void {
    this.requests.push({ id, amount, cancelled: 0n })
  }
  cancel(id: bigint, amount: bigint): void {
    let rest = amount
    for (const request of this.requests.toReversed()) {
      if (request.id !== id) continue
      const taken = min(rest, request.amount - request.cancelled)
      request.cancelled += taken
      rest -= taken
    }
  }
  with(cancelled: readonly { readonly id: bigint; readonly amount: bigint }[]): RequestQueue {
    const line = new RequestQueue()
    for (const request of this.requests) line.requests.push({ ...request })
    line.claims.push(...this.claims)
    for (const { id, amount } of cancelled) line.cancel(id, amount)
    return line
  }
  claim(taken: bigint, paid: bigint): void {
    this.claims.push({ taken, paid, among: this.requests.length })
  }
  /**
   * Returns the expected amounts of each request. `pending` and `claimable` are the vault's totals for the account.
   * `worth` is the value of `claimable` in the unit that a claim pays.
   */
  listExpectedAmounts({ pending, claimable, worth }: { pending: bigint; claimable: bigint; worth: bigint }) {
    const standing = this.requests.map(({ amount, cancelled }) => amount - cancelled)
    const newest = (whole: bigint, of: readonly bigint[]) => {
      let rest = whole
      return of
        .toReversed()
        .map((amount) => {
          const part = min(rest, amount)
          rest -= part
          return part
        })
        .toReversed()
    }
    const pendings = newest(pending, standing)
    const claimables = newest(
      claimable,
      standing.map((amount, index) => amount - (pendings[index] ?? 0n)),
    )
    const worths = divide(worth, claimables)
    const claimed = standing.map(() => ({ taken: 0n, paid: 0n }))
    for (const { taken, paid, among } of this.claims) {
      let rest = taken
      const parts = claimed.slice(0, among).map((before, index) => {
        const part = min(rest, (standing[index] ?? 0n) - before.taken)
        rest -= part
        return part
      })
      for (const [index, part] of divide(paid, parts).entries()) {
        const before = claimed[index]
        if (!before) continue
        before.taken += parts[index] ?? 0n
        before.paid += part
      }
    }
    return this.requests.map((request, index) => ({
      ...request,
      pending: pendings[index] ?? 0n,
      claimable: claimables[index] ?? 0n,
      worth: worths[index] ?? 0n,
      taken: claimed[index]?.taken ?? 0n,
      paid: claimed[index]?.paid ?? 0n,
    }))
  }
}

/** Divides `whole` in proportion to the weights. Running totals are rounded down, so the parts add up to `whole`. */
function divide(whole: bigint, weights: readonly bigint[]): bigint[] {
  const total = sum(weights)
  let [upTo, distributed] = [0n, 0n]
  return weights.map((weight) => {
    upTo += weight
    const part = total === 0n ? 0n : (whole * upTo) / total - distributed
    distributed += part
    return part
  })
}

class Model implements VaultModel {
  price = WAD
  lastId = 0n
  private readonly accounts = new Map<Address, Account>()

  readonly make: AsyncVaultKind
  readonly vault: TestAsyncVault
  private readonly scale: bigint

  constructor(make: AsyncVaultKind, decimals: number, vault: TestAsyncVault) {
    this.make = make
    this.vault = vault
    this.scale = 10n ** BigInt(12 + decimals)
    for (const user of USER_ADDRESSES) {
      this.accounts.set(user, {
        ...{
          shares: 0n,
          requests: { deposit: [], redeem: [] },
          deposits: new RequestQueue(),
          withdrawals: new RequestQueue(),
        },
        ...{ sources: [], deposited: 0n, withdrawn: 0n, used: false },
      })
    }
  }

  get takesDepositsAtOnce(): boolean {
    return this.make === 'syncDeposits'
  }
  account(user: Address): Account {
    return this.accounts.get(user) as Account
  }
  worth(shares: bigint, price = this.price): bigint {
    return (shares * price) / this.scale
  }
  sharesFor(assets: bigint, price = this.price): bigint {
    return price === 0n ? 0n : (assets * this.scale) / price
  }
  claimable(side: Side, { claimable, price }: Request): bigint {
    return side === 'deposit' ? this.worth(claimable, price) : this.sharesFor(claimable, price)
  }
  private total(user: Address, side: Side, of: (request: Request) => bigint): bigint {
    return sum(this.account(user).requests[side].map(of))
  }
  waiting(user: Address, side: Side): bigint {
    return this.total(user, side, ({ pending }) => pending)
  }
  /**
   * Returns the cancelled amount that the user has not yet collected. Vaults of the kind `syncDeposits` do not report
   * this amount, so it is 0.
   */
  cancelled(user: Address, side: Side): bigint {
    return this.make === 'syncDeposits' ? 0n : this.total(user, side, ({ cancelled }) => cancelled)
  }
  /**
   * Returns the expected amounts of each request. A cancelled amount that the user has not yet collected counts as
   * cancelled.
   */
  listExpectedAmounts(user: Address, side: Side) {
    const { requests, deposits, withdrawals } = this.account(user)
    const { requested: claimable, settled: worth } = this.most(user, side)
    const untaken = this.make === 'syncDeposits' ? [] : requests[side].filter(({ cancelled }) => cancelled > 0n)
    return (side === 'deposit' ? deposits : withdrawals)
      .with(untaken.map(({ id, cancelled }) => ({ id, amount: cancelled })))
      .listExpectedAmounts({ pending: this.waiting(user, side), claimable, worth })
  }
  /** Returns the most that a user can claim: `requested` in the unit of the request, `settled` in the unit that a claim pays. */
  most(user: Address, side: Side): { requested: bigint; settled: bigint } {
    return {
      requested: this.total(user, side, (request) => this.claimable(side, request)),
      settled: this.total(user, side, ({ claimable }) => claimable),
    }
  }
  isCancelling(user: Address, side: Side): boolean {
    return this.account(user).requests[side].some(({ isCancelling }) => isCancelling)
  }

  depositNow(user: Address, assets: bigint): void {
    const shares = this.sharesFor(assets)
    const account = this.account(user)
    account.shares += shares
    account.deposited += assets
    account.used = true
    account.sources.push({ deposit: account.deposits.requests.length, shares })
    account.deposits.ask(0n, assets)
    account.deposits.claim(assets, shares)
  }
  request(side: Side, user: Address, amount: bigint, owner = user): void {
    const account = this.account(user)
    if (this.make === 'counted') this.lastId += 1n
    const id = this.lastId
    const requests = account.requests[side]
    const open = requests.find((request) => request.id === id)
    if (open) open.pending += amount
    else requests.push({ id, pending: amount, claimable: 0n, price: 0n, isCancelling: false, cancelled: 0n })
    if (side === 'deposit') {
      account.deposited += amount
      account.used = true
      account.sources.push({ deposit: account.deposits.requests.length, shares: 0n })
      account.deposits.ask(id, amount)
    } else {
      this.account(owner).shares -= amount
      account.withdrawals.ask(id, amount)
      this.handOver(owner, user, amount)
    }
  }
  fulfill(side: Side, request: Request, assets: bigint, shares: bigint): void {
    const before = this.claimable(side, request)
    request.claimable += side === 'deposit' ? shares : assets
    request.price =
      side === 'deposit'
        ? ((before + assets) * this.scale) / request.claimable
        : (request.claimable * this.scale) / (before + shares)
    request.pending -= side === 'deposit' ? assets : shares
    if (request.pending === 0n) request.isCancelling = false
  }
  /**
   * Claims from the oldest requests first. `amount` is in the unit that a claim pays if `bySettled`, otherwise in the
   * unit of the request.
   */
  claim(side: Side, user: Address, amount: bigint, bySettled: boolean, receiver = user): void {
    const account = this.account(user)
    let [rest, other] = [amount, 0n]
    for (const request of account.requests[side]) {
      const { price } = request
      const part = min(rest, bySettled ? request.claimable : this.claimable(side, request))
      rest -= part
      // The conversion between assets and shares rounds against the user, as in the vault's contract.
      const isInShares = (side === 'deposit') === bySettled
      const [dividend, divisor] = isInShares ? [part * price, this.scale] : [part * this.scale, price]
      if (part > 0n) other += bySettled ? up(dividend, divisor) : dividend / divisor
      request.claimable -= bySettled || part === 0n ? part : up(dividend, divisor)
    }
    const [requested, settled] = bySettled ? [other, amount] : [amount, other]
    if (side === 'deposit') {
      this.account(receiver).shares += settled
      account.deposits.claim(requested, settled)
      this.handOver(user, receiver, settled)
    } else {
      account.withdrawn += settled
      account.withdrawals.claim(requested, settled)
      account.used = true
    }
  }
  agree(request: Request): void {
    request.cancelled += request.pending
    request.pending = 0n
    request.isCancelling = false
  }
  takeCancelled(side: Side, user: Address, request: Request, receiver: Address): void {
    const { id, cancelled } = request
    const account = this.account(user)
    request.cancelled = 0n
    if (side === 'deposit') {
      account.deposited -= cancelled
      account.deposits.cancel(id, cancelled)
    } else {
      this.account(receiver).shares += cancelled
      account.withdrawals.cancel(id, cancelled)
      this.handOver(user, receiver, cancelled)
    }
  }
  transfer(from: Address, to: Address, shares: bigint): void {
    this.account(from).shares -= shares
    this.account(to).shares += shares
    this.handOver(from, to, shares)
  }
  /**
   * Counts a transfer as a withdrawal of the sender and a deposit of the receiver, at the shares' current value. A
   * value below one unit of the asset counts as nothing.
   */
  private handOver(from: Address, to: Address, shares: bigint): void {
    if (from === to || shares === 0n) return
    const value = this.worth(shares)
    if (value === 0n) return
    const [sender, receiver] = [this.account(from), this.account(to)]
    sender.withdrawn += value
    sender.used = true
    receiver.deposited += value
    receiver.used = true
    receiver.sources.push({ deposit: null, shares })
  }

  isUsed(user: Address): boolean {
    return this.account(user).used
  }
  amounts(user: Address) {
    return {
      pendingDeposit: `${this.waiting(user, 'deposit')}`,
      claimableShares: `${this.most(user, 'deposit').settled}`,
      currentShares: `${this.account(user).shares}`,
      pendingRedeemShares: `${this.waiting(user, 'redeem')}`,
      claimableRedeemAssets: `${this.most(user, 'redeem').settled}`,
      cancelledDeposit: `${this.cancelled(user, 'deposit')}`,
      cancelledRedeemShares: `${this.cancelled(user, 'redeem')}`,
    }
  }
  position(user: Address) {
    const { deposited, withdrawn, shares } = this.account(user)
    const value =
      this.waiting(user, 'deposit') +
      this.cancelled(user, 'deposit') +
      this.worth(
        shares + this.most(user, 'deposit').settled + this.waiting(user, 'redeem') + this.cancelled(user, 'redeem'),
      ) +
      this.most(user, 'redeem').settled
    const statuses = this.history(user).map(({ status }) => status)
    const count = (status: Status) => statuses.filter((one) => one === status).length
    return {
      vaultAddress: this.vault.address,
      totalDepositedAssets: `${deposited}`,
      totalWithdrawnAssets: `${withdrawn}`,
      currentShares: `${shares}`,
      currentValue: `${value}`,
      earnedAssets: `${value + withdrawn - deposited}`,
      depositCount: statuses.length - count('cancelled'),
      statusBreakdown: { pending: count('pending'), claimable: count('claimable'), completed: count('completed') },
    }
  }
  history(user: Address) {
    const { sources, shares } = this.account(user)
    const expectedRequests = this.listExpectedAmounts(user, 'deposit')
    // Shares are spent in the order in which the account received them.
    const came = sources.map(({ deposit, shares }) =>
      deposit === null ? shares : (expectedRequests[deposit]?.paid ?? 0n),
    )
    let spent = sum(came) - shares
    const remainingShares = new Map<number, bigint>()
    for (const [index, { deposit }] of sources.entries()) {
      const gone = min(spent < 0n ? 0n : spent, came[index] ?? 0n)
      spent -= gone
      if (deposit !== null) remainingShares.set(deposit, (came[index] ?? 0n) - gone)
    }
    return expectedRequests
      .map(({ id, amount, cancelled, pending, claimable, worth }, index) => ({
        status: statusOf({ isCancelled: cancelled === amount, pending, claimable }),
        epochId: Number(id),
        amounts: {
          depositedAssets: `${amount}`,
          pendingDeposit: `${pending}`,
          claimableShares: `${worth}`,
          currentShares: `${remainingShares.get(index)}`,
        },
      }))
      .toReversed()
  }
  withdrawals(user: Address) {
    return this.listExpectedAmounts(user, 'redeem')
      .map(({ id, amount, cancelled, pending, claimable, worth, taken, paid }) => {
        // Some vaults report neither a pending nor a claimable amount for an open request, so the API shows the
        // request as pending.
        const isOpen = taken === 0n && cancelled === 0n && claimable === 0n
        const status = isOpen
          ? 'pending'
          : statusOf({ isCancelled: taken === 0n && cancelled > 0n, pending, claimable })
        return {
          status,
          shares: `${amount}`,
          assets: status === 'pending' ? null : `${paid + worth}`,
          epochId: Number(id),
          amounts: {
            pendingShares: `${pending}`,
            claimableShares: `${claimable}`,
            claimableAssets: `${worth}`,
            paidShares: `${taken}`,
            paidAssets: `${paid}`,
            cancelledShares: `${cancelled}`,
          },
          claimTransactionHash: taken > 0n ? expect.any(String) : null,
        }
      })
      .toReversed()
  }
}

function statusOf(of: { isCancelled: boolean; pending: bigint; claimable: bigint }): Status {
  if (of.pending > 0n) return 'pending'
  if (of.claimable > 0n) return 'claimable'
  return of.isCancelled ? 'cancelled' : 'completed'
}

/**
 * Names of the vault's functions. `claims` has two functions: the first takes the amount in the requested unit, the
 * second in the paid unit. For deposits, these units are assets and shares.
 */
const CALLS = {
  deposit: {
    fulfill: 'fulfillDeposit',
    claims: ['deposit', 'mint'],
    ask: 'cancelDepositRequest',
    agree: 'fulfillCancelDeposit',
    take: 'claimCancelDepositRequest',
  },
  redeem: {
    fulfill: 'fulfillRedeem',
    claims: ['redeem', 'withdraw'],
    ask: 'cancelRedeemRequest',
    agree: 'fulfillCancelRedeem',
    take: 'claimCancelRedeemRequest',
  },
} as const

/**
 * Actions that another action requires. If an action is impossible now, the test does the required action in its
 * place.
 */
const REQUIRED_BEFORE: { readonly [what in Action]?: Action } = {
  ...{ claim: 'fulfill', fulfill: 'request' },
  ...{ take: 'agree', agree: 'ask', ask: 'request' },
}

type Action = 'request' | 'gift' | 'fulfill' | 'claim' | 'ask' | 'agree' | 'take' | 'transfer' | 'price' | 'together'
type Command = {
  readonly what: Action | 'record'
  readonly side: Side
  readonly user: number
  /**
   * `isForOther` makes the other user the receiver. `isOtherCall` selects the second function in `claims`. `isNewest`
   * selects the newest request.
   */
  readonly isForOther: boolean
  readonly isOtherCall: boolean
  readonly isNewest: boolean
  /**
   * Amount of the action in thousandths of the shares or assets that the user can use. A deposit has no such limit,
   * so its amount is computed from this number alone.
   */
  readonly part: number
}

const command: fc.Arbitrary<Command> = fc.record({
  what: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('request' as const, 'fulfill' as const) },
    { weight: 6, arbitrary: fc.constantFrom('claim' as const, 'take' as const) },
    { weight: 3, arbitrary: fc.constantFrom('ask' as const, 'agree' as const, 'transfer' as const) },
    {
      weight: 4,
      arbitrary: fc.constantFrom('gift' as const, 'price' as const, 'together' as const, 'record' as const),
    },
  ),
  side: fc.constantFrom('deposit' as const, 'redeem' as const),
  user: fc.nat({ max: USER_ADDRESSES.length - 1 }),
  isForOther: fc.boolean(),
  isOtherCall: fc.boolean(),
  isNewest: fc.boolean(),
  part: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constant(1000)),
})

const test = base.extend('silence', { scope: 'file' }, () => createEmptyBlocks())

test.for(VAULTS)(
  'After random histories, positions, deposits and withdrawals equal the model of the ERC-7540 vault, live and recorded: $make',
  {
    timeout: 120_000,
  },
  async ({ make, decimals }, { service, silence }) => {
    const chain = service.backends.chains[0] as Service['backends']['chains'][number]
    silence.applyTo(service.rpc[8453] as RecordingProxy)
    await fc.assert(
      fc.asyncProperty(
        fc.noBias(fc.array(command, { minLength: 30, maxLength: 70, size: 'max' })),
        async (commands) => {
          const model = new Model(make, decimals, await openAsyncVault(service, { make, shareDecimals: decimals }))
          const views = createUserViews(service, model.vault.key)
          const check = (users = USER_ADDRESSES) => expectModelledResponses(views, [model], users)
          await fund(model.vault)

          for (const [index, step] of commands.entries()) {
            if (step.what === 'record') await recordAfterEmptyBlocks(service, chain, silence)
            else await doOrPrepare(model, step, step.what)
            // Most checks are limited to the user who acted last, to save time. The check at the end covers both
            // users.
            if (index % 8 === 7) await check([USER_ADDRESSES[step.user] as Address])
          }
          await check()
          for (const user of USER_ADDRESSES.filter((one) => model.isUsed(one))) {
            expect((await views.position(user, model.vault.address)).body.amounts).toEqual(model.amounts(user))
          }
          await recordAfterEmptyBlocks(service, chain, silence)
          await recordAfterEmptyBlocks(service, chain, silence)
          await check()
        },
      ),
      // Vitest's time limit includes the shrinking of a failing case. The printed seed and path allow a developer to
      // continue later.
      { numRuns: scaleSampleCount(1), skipAllAfterTimeLimit: 100_000 },
    )
  },
)

async function fund(vault: TestAsyncVault): Promise<void> {
  const plenty = 10n ** 15n
  for (const account of [...USER_ADDRESSES, ROLES.safe]) await vault.mint(account, plenty)
  for (const user of USER_ADDRESSES) {
    await vault.approve(user, plenty)
    await vault.act(user, 'setOperator', MULTICALL3, true)
    await vault.actOnShare(user, 'approve', MULTICALL3, 10n ** 30n)
  }
}

async function doOrPrepare(model: Model, step: Command, what: Action): Promise<void> {
  const before = REQUIRED_BEFORE[what]
  if (!(await perform(model, step, what)) && before) await doOrPrepare(model, step, before)
}

/** Returns false and does nothing if the vault does not allow the action now. */
async function perform(model: Model, step: Command, what: Action): Promise<boolean> {
  const { side, isForOther, isOtherCall, isNewest, part } = step
  const { vault } = model
  const user = USER_ADDRESSES[step.user] as Address
  const other = USER_ADDRESSES[1 - step.user] as Address
  const receiver = isForOther ? other : user
  const calls = CALLS[side]
  const portion = (whole: bigint) => (whole * BigInt(part)) / 1000n
  const requestThat = (is: (request: Request) => boolean) =>
    model
      .account(user)
      .requests[side].filter(is)
      .at(isNewest ? -1 : 0)

  switch (what) {
    case 'request':
    case 'gift': {
      const controller = what === 'gift' && (side === 'deposit' || !model.takesDepositsAtOnce) ? other : user
      const amount = side === 'deposit' ? 1_000_000n + BigInt(part) * 7_654_321n : portion(model.account(user).shares)
      if (amount === 0n || model.isCancelling(controller, side)) return false
      if (side === 'redeem') {
        await vault.act(user, 'requestRedeem', amount, controller, user)
        model.request(side, controller, amount, user)
      } else if (model.takesDepositsAtOnce) {
        await vault.act(user, 'deposit', amount, controller)
        model.depositNow(controller, amount)
      } else {
        await vault.act(user, 'requestDeposit', amount, controller, user)
        model.request(side, controller, amount)
      }
      return true
    }
    case 'fulfill': {
      const request = requestThat(({ pending }) => pending > 0n)
      const amount = portion(request?.pending ?? 0n)
      // The manager settles each request at a price of its own, which differs from the vault's published price.
      const atPrice = side === 'deposit' ? model.sharesFor(amount) : model.worth(amount)
      const settled = (atPrice * BigInt(900 + part)) / 1234n
      if (!request || settled === 0n) return false
      await vault.act(ROLES.safe, calls.fulfill, request.id, user, amount, settled)
      model.fulfill(
        side,
        request,
        ...(side === 'deposit' ? ([amount, settled] as const) : ([settled, amount] as const)),
      )
      return true
    }
    case 'claim': {
      const { requested, settled } = model.most(user, side)
      const amount = portion(isOtherCall ? settled : requested)
      if (amount === 0n) return false
      await vault.act(user, calls.claims[isOtherCall ? 1 : 0], amount, receiver, user)
      model.claim(side, user, amount, isOtherCall, receiver)
      return true
    }
    case 'ask': {
      const request = requestThat(({ pending, isCancelling }) => pending > 0n && !isCancelling)
      if (!request) return false
      await vault.act(user, calls.ask, request.id, user)
      request.isCancelling = true
      return true
    }
    case 'agree': {
      const request = requestThat(({ isCancelling }) => isCancelling)
      if (!request) return false
      await vault.act(ROLES.safe, calls.agree, request.id, user)
      model.agree(request)
      return true
    }
    case 'take': {
      const request = requestThat(({ cancelled }) => cancelled > 0n)
      if (!request) return false
      await vault.act(user, calls.take, request.id, receiver, user)
      model.takeCancelled(side, user, request, receiver)
      return true
    }
    case 'transfer': {
      const shares = portion(model.account(user).shares)
      await vault.actOnShare(user, 'transfer', other, shares)
      model.transfer(user, other, shares)
      return true
    }
    case 'price':
      model.price = (model.price * BigInt(3_800 + part)) / 4_000n
      await vault.act(ROLES.safe, 'updatePrice', model.price)
      return true
    default:
      await doTogether(model, user, other)
      return true
  }
}

/**
 * Does all that an operator can do for a user in one transaction. The transfer and the redemption request have as
 * many shares as the last claim. The service therefore cannot identify events by their amounts.
 */
async function doTogether(model: Model, user: Address, other: Address): Promise<void> {
  const { vault } = model
  const datas: { target: Address; allowFailure: boolean; callData: Hex }[] = []
  const add = (callData: Hex, target = vault.address) => datas.push({ target, allowFailure: false, callData })
  let shares = 0n
  for (const side of ['redeem', 'deposit'] as const) {
    for (const [index, name] of CALLS[side].claims.entries()) {
      const { requested, settled } = model.most(user, side)
      const amount = (index === 1 ? settled : requested) / 2n
      if (amount === 0n) continue
      const before = model.account(user).shares
      add(vault.encode(name, [amount, user, user]))
      model.claim(side, user, amount, index === 1)
      shares = model.account(user).shares - before
    }
    for (const request of model.account(user).requests[side].filter(({ cancelled }) => cancelled > 0n)) {
      add(vault.encode(CALLS[side].take, [request.id, user, user]))
      model.takeCancelled(side, user, request, user)
    }
  }
  if (shares > 0n && model.account(user).shares >= shares) {
    add(encodeCall('transferFrom', [user, other, shares]), vault.share)
    model.transfer(user, other, shares)
  }
  if (shares > 0n && model.account(user).shares >= shares && !model.isCancelling(user, 'redeem')) {
    add(vault.encode('requestRedeem', [shares, user, user]))
    model.request('redeem', user, shares)
  }
  if (datas.length > 0) await transact(vault.chain, [buildTransaction(ROLES.admin, MULTICALL3, 'aggregate3', [datas])])
}
