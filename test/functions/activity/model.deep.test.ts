import * as fc from 'fast-check'
import { type Address, type Hash, pad, parseEventLogs, zeroAddress, zeroHash } from 'viem'
import { expect } from 'vitest'
import { FEE_REGISTRY, type LagoonRates } from '../../../sandbox/deploy.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { type LocalTransaction, transact } from '../../../sandbox/transactions.ts'
import { LAGOON_ABI } from '../../support/lagoon-abi.ts'
import { expectModelledResponses, recordAfterEmptyBlocks, type VaultModel } from '../../support/models.ts'
import { ARBITRUM, BASE, buildTransaction, encodeCall, type FunctionName, HANDLER } from '../../support/oracles.ts'
import { createUserViews } from '../../support/records.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { type Service, USERS } from '../../support/service.ts'
import { createEmptyBlocks } from '../../support/silence.ts'
import { test as base, depositMessage, type Transfers } from '../../support/transfers.ts'
import { openLagoonVault, openYieldVault, ROLES, type TestVault } from '../../support/vaults.ts'
import type { RecordingProxy } from '../../support/wire.ts'

/**
 * This test makes random histories of three users in several vaults, both on a chain and in a model. The model
 * follows the vaults' rules and the API's documentation. It shares no code with the service, so it cannot repeat the
 * service's errors.
 */
const USER_ADDRESSES = USERS.slice(0, 3).map(({ address }) => address)
const ACCOUNTS_CHECKED = [...USER_ADDRESSES, ROLES.feeReceiver]
const KINDS = ['0.4', '0.5', '0.6', 'sync'] as const
const OFFSET = 10n ** 12n
const NO_FEES: LagoonRates = { managementRate: 0, performanceRate: 0, entryRate: 0, exitRate: 0, haircutRate: 0 }
const RATES: Record<Kind, LagoonRates> = {
  '0.4': NO_FEES,
  '0.5': { ...NO_FEES, managementRate: 200, performanceRate: 2_000 },
  '0.6': { managementRate: 100, performanceRate: 1_500, entryRate: 137, exitRate: 149, haircutRate: 777 },
  sync: NO_FEES,
}
/** Account that receives the manager's part of all fees. The test checks its position like that of a user. */
const FEE_RECEIVER = ROLES.feeReceiver

type Kind = (typeof KINDS)[number]
type Status = 'pending' | 'claimable' | 'completed' | 'cancelled'
type Deposit = { epoch: bigint; assets: bigint; claimed: bigint; minted: bigint; cancelled: boolean }
/**
 * A redemption request or an instant withdrawal. `left` is the number of shares that are neither paid nor cancelled.
 */
type Withdrawal = {
  epoch: bigint
  shares: bigint
  left: bigint
  paidShares: bigint
  paidAssets: bigint
  cancelledShares: bigint
}
type Source = { deposit: Deposit | null; shares: bigint }
type Account = {
  shares: bigint
  epoch: bigint
  requested: bigint
  redeemEpoch: bigint
  redeeming: bigint
  deposits: Deposit[]
  withdrawals: Withdrawal[]
  sources: Source[]
  deposited: bigint
  withdrawn: bigint
  used: boolean
}
type Rate = { assets: bigint; supply: bigint }

/** Returns the fee in shares, rounded up. `rate` is in basis points. */
const feeOn = (shares: bigint, rate: number) => (shares * BigInt(rate) + 9_999n) / 10_000n
const min = (left: bigint, right: bigint) => (left < right ? left : right)

class Model implements VaultModel {
  assets = 0n
  supply = 0n
  depositEpoch = 1n
  redeemEpoch = 2n
  settledDeposits = -1n
  settledRedeems = 0n
  pendingAssets = 0n
  pendingShares = 0n
  readonly depositRates = new Map<bigint, Rate>()
  readonly redeemRates = new Map<bigint, Rate>()
  readonly accounts = new Map<Address, Account>()
  gains = 0n
  events = 0

  readonly kind: Kind
  readonly vault: TestVault

  constructor(kind: Kind, vault: TestVault) {
    this.kind = kind
    this.vault = vault
    for (const user of ACCOUNTS_CHECKED) {
      this.accounts.set(user, {
        ...{ shares: 0n, epoch: 0n, requested: 0n, redeemEpoch: 0n, redeeming: 0n },
        ...{ deposits: [], withdrawals: [], sources: [], deposited: 0n, withdrawn: 0n, used: false },
      })
    }
  }

  get rates(): LagoonRates {
    return RATES[this.kind]
  }
  get virtual(): bigint {
    return this.kind === 'sync' ? 1n : OFFSET
  }
  account(user: Address): Account {
    return this.accounts.get(user) as Account
  }
  worth(shares: bigint, { assets, supply }: Rate = this): bigint {
    return (shares * (assets + 1n)) / (supply + this.virtual)
  }
  sharesFor(assets: bigint, rate: Rate = this): bigint {
    return (assets * (rate.supply + this.virtual)) / (rate.assets + 1n)
  }
  pending(user: Address): bigint {
    const { epoch, requested } = this.account(user)
    return epoch > this.settledDeposits ? requested : 0n
  }
  claimable(user: Address): bigint {
    const { epoch, requested } = this.account(user)
    return epoch <= this.settledDeposits ? requested : 0n
  }
  claimableShares(user: Address): bigint {
    const claimable = this.claimable(user)
    return claimable === 0n ? 0n : this.claimed(claimable, this.depositRates.get(this.account(user).epoch))
  }
  /**
   * Returns the shares that a claim of these assets pays after the entry fee. `rate` is the settlement's rate, by
   * default the current rate.
   */
  claimed(assets: bigint, rate?: Rate): bigint {
    const shares = this.sharesFor(assets, rate)
    return shares - feeOn(shares, this.rates.entryRate)
  }
  /**
   * Returns the assets that a claim of these shares pays after the exit fee. `rate` is the settlement's rate, by
   * default the current rate.
   */
  paid(shares: bigint, rate?: Rate): bigint {
    return this.worth(shares - feeOn(shares, this.rates.exitRate), rate)
  }
  pendingRedeem(user: Address): bigint {
    const { redeemEpoch, redeeming } = this.account(user)
    return redeemEpoch > this.settledRedeems ? redeeming : 0n
  }
  claimableRedeem(user: Address): bigint {
    const { redeemEpoch, redeeming } = this.account(user)
    return redeemEpoch <= this.settledRedeems ? redeeming : 0n
  }
  claimableRedeemAssets(user: Address): bigint {
    const shares = this.claimableRedeem(user)
    return shares === 0n ? 0n : this.paid(shares, this.redeemRates.get(this.account(user).redeemEpoch))
  }

  request(user: Address, assets: bigint): void {
    if (this.claimable(user) > 0n) this.claim(user, this.claimable(user))
    const account = this.account(user)
    if (account.epoch !== this.depositEpoch) Object.assign(account, { epoch: this.depositEpoch, requested: 0n })
    // Anyone may request a deposit of 0 for another account. The vault then claims the account's settled amount, and
    // no deposit begins.
    if (assets === 0n) return
    account.requested += assets
    account.deposited += assets
    account.used = true
    const deposit = { epoch: this.depositEpoch, assets, claimed: 0n, minted: 0n, cancelled: false }
    account.deposits.push(deposit)
    account.sources.push({ deposit, shares: 0n })
    this.pendingAssets += assets
  }
  cancel(user: Address): void {
    const account = this.account(user)
    this.pendingAssets -= account.requested
    account.deposited -= account.requested
    account.requested = 0n
    for (const deposit of account.deposits) if (deposit.epoch === account.epoch) deposit.cancelled = true
  }
  propose(): void {
    if (this.pendingAssets > 0n) this.depositEpoch += 2n
    if (this.pendingShares > 0n) this.redeemEpoch += 2n
  }
  /**
   * Settles requests at a valuation. `fees` are the shares that the vault mints for management and performance fees.
   */
  settle(valuation: bigint, fees: bigint): void {
    this.gains += valuation - this.assets
    this.assets = valuation
    this.supply += fees
    this.events += 1
    if (this.pendingAssets > 0n) {
      const rate = { assets: this.assets, supply: this.supply }
      for (let epoch = this.settledDeposits + 2n; epoch < this.depositEpoch; epoch += 2n)
        this.depositRates.set(epoch, rate)
      this.supply += this.sharesFor(this.pendingAssets)
      this.assets += this.pendingAssets
      this.pendingAssets = 0n
      this.settledDeposits = this.depositEpoch - 2n
    }
    const paid = this.paid(this.pendingShares)
    if (paid > 0n) {
      const rate = { assets: this.assets, supply: this.supply }
      for (let epoch = this.settledRedeems + 2n; epoch < this.redeemEpoch; epoch += 2n)
        this.redeemRates.set(epoch, rate)
      this.supply -= this.pendingShares - feeOn(this.pendingShares, this.rates.exitRate)
      this.assets -= paid
      this.pendingShares = 0n
      this.settledRedeems = this.redeemEpoch - 2n
    }
  }
  claim(user: Address, assets: bigint): void {
    const account = this.account(user)
    const shares = this.claimed(assets, this.depositRates.get(account.epoch))
    account.requested -= assets
    account.shares += shares
    this.events += 1
    // The claim consumes the oldest deposits first.
    let [rest, upTo, distributed] = [assets, 0n, 0n]
    for (const source of account.sources) {
      const { deposit } = source
      if (!deposit || deposit.epoch !== account.epoch || deposit.cancelled) continue
      const taken = min(rest, deposit.assets - deposit.claimed)
      rest -= taken
      upTo += taken
      deposit.claimed += taken
      const part = (shares * upTo) / assets - distributed
      distributed += part
      source.shares += part
    }
  }
  sync(user: Address, assets: bigint): void {
    const minted = this.sharesFor(assets)
    const shares = minted - feeOn(minted, this.rates.entryRate)
    const account = this.account(user)
    const deposit = { epoch: 0n, assets, claimed: assets, minted: shares, cancelled: false }
    account.deposits.push(deposit)
    account.sources.push({ deposit, shares })
    account.shares += shares
    account.deposited += assets
    account.used = true
    this.assets += assets
    this.supply += minted
    this.events += 1
  }
  receive(user: Address, shares: bigint): void {
    const account = this.account(user)
    account.shares += shares
    this.receiveShares(user, shares, this.worth(shares))
  }
  /**
   * Counts received shares as a deposit at their current value. A value below one unit of the asset counts as
   * nothing.
   */
  private receiveShares(user: Address, shares: bigint, value: bigint): void {
    if (value === 0n) return
    const account = this.account(user)
    account.deposited += value
    account.used = true
    account.sources.push({ deposit: null, shares })
  }
  transfer(from: Address, to: Address, shares: bigint): void {
    const value = this.worth(shares)
    const [sender, receiver] = [this.account(from), this.account(to)]
    sender.shares -= shares
    sender.withdrawn += value
    receiver.shares += shares
    this.receiveShares(to, shares, value)
    this.events += 2
  }
  requestRedeem(user: Address, shares: bigint): void {
    if (this.claimableRedeem(user) > 0n) this.redeem(user, this.claimableRedeem(user))
    const account = this.account(user)
    if (account.redeemEpoch !== this.redeemEpoch)
      Object.assign(account, { redeemEpoch: this.redeemEpoch, redeeming: 0n })
    // Anyone may request a redemption of 0 shares for another account. No withdrawal begins.
    if (shares === 0n) return
    account.redeeming += shares
    account.shares -= shares
    this.pendingShares += shares
    const none = { paidShares: 0n, paidAssets: 0n, cancelledShares: 0n }
    account.withdrawals.push({ epoch: this.redeemEpoch, shares, left: shares, ...none })
  }
  cancelRedeem(user: Address): void {
    const account = this.account(user)
    this.pendingShares -= account.redeeming
    account.shares += account.redeeming
    account.redeeming = 0n
    for (const withdrawal of account.withdrawals) {
      if (withdrawal.epoch !== account.redeemEpoch) continue
      withdrawal.cancelledShares += withdrawal.left
      withdrawal.left = 0n
    }
  }
  redeem(user: Address, shares: bigint): void {
    const account = this.account(user)
    const assets = this.paid(shares, this.redeemRates.get(account.redeemEpoch))
    account.withdrawn += assets
    account.redeeming -= shares
    this.events += 1
    // The claim consumes the oldest withdrawals first.
    let [rest, upTo, distributed] = [shares, 0n, 0n]
    for (const withdrawal of account.withdrawals) {
      const taken = min(rest, withdrawal.left)
      rest -= taken
      upTo += taken
      withdrawal.left -= taken
      withdrawal.paidShares += taken
      const part = (assets * upTo) / shares - distributed
      distributed += part
      withdrawal.paidAssets += part
    }
  }
  /**
   * Withdraws instantly. `haircut` is in basis points. The vault keeps that part and counts it as assets in the next
   * valuation.
   */
  withdrawNow(user: Address, shares: bigint, haircut = 0): void {
    const net = shares - feeOn(shares, this.rates.exitRate)
    const assets = this.worth(net - feeOn(net, haircut))
    const account = this.account(user)
    account.shares -= shares
    account.withdrawn += assets
    const paid = { paidShares: shares, paidAssets: assets, cancelledShares: 0n }
    if (shares > 0n) account.withdrawals.push({ epoch: 0n, shares, left: 0n, ...paid })
    this.assets -= this.worth(net)
    this.supply -= net
    this.events += 1
  }

  value(user: Address): bigint {
    const shares = this.account(user).shares + this.claimableShares(user) + this.pendingRedeem(user)
    return this.pending(user) + this.worth(shares) + this.claimableRedeemAssets(user)
  }

  isUsed(user: Address): boolean {
    return this.account(user).used
  }

  position(user: Address) {
    const { deposits, deposited, withdrawn, shares } = this.account(user)
    const statuses = deposits.map((deposit) => this.statusOf(user, deposit))
    const count = (status: Status) => statuses.filter((one) => one === status).length
    const value = this.value(user)
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

  private statusOf(user: Address, { epoch, assets, claimed, cancelled }: Deposit): Status {
    if (cancelled) return 'cancelled'
    if (claimed === assets) return 'completed'
    return epoch > this.settledDeposits && epoch === this.account(user).epoch ? 'pending' : 'claimable'
  }

  /** Returns the withdrawals that the API must show. A user's unpaid shares are either all pending or all claimable. */
  withdrawals(user: Address) {
    const isPending = this.pendingRedeem(user) > 0n
    const [claimable, whole] = [this.claimableRedeem(user), this.claimableRedeemAssets(user)]
    let [upTo, distributed] = [0n, 0n]
    return this.account(user)
      .withdrawals.map(({ epoch, shares, left, paidShares, paidAssets, cancelledShares }) => {
        const claimableShares = isPending ? 0n : left
        upTo += claimableShares
        const claimableAssets = claimable === 0n ? 0n : (whole * upTo) / claimable - distributed
        distributed += claimableAssets
        const open = isPending ? 'pending' : 'claimable'
        return {
          status: left > 0n ? open : paidShares > 0n ? 'completed' : 'cancelled',
          shares: `${shares}`,
          assets: isPending && left > 0n ? null : `${paidAssets + claimableAssets}`,
          epochId: Number(epoch),
          amounts: {
            pendingShares: `${isPending ? left : 0n}`,
            claimableShares: `${claimableShares}`,
            claimableAssets: `${claimableAssets}`,
            paidShares: `${paidShares}`,
            paidAssets: `${paidAssets}`,
            cancelledShares: `${cancelledShares}`,
          },
        }
      })
      .toReversed()
  }

  history(user: Address) {
    const { deposits, sources, shares } = this.account(user)
    let spent = sources.reduce((sum, source) => sum + source.shares, 0n) - shares
    const remainingShares = new Map<Deposit, bigint>()
    for (const source of sources) {
      const gone = min(spent, source.shares)
      spent -= gone
      if (source.deposit) remainingShares.set(source.deposit, source.shares - gone)
    }
    const whole = this.claimableShares(user)
    const claimable = this.claimable(user)
    let [upTo, distributed] = [0n, 0n]
    return deposits
      .map((deposit) => {
        const status = this.statusOf(user, deposit)
        let part = 0n
        if (status === 'claimable') {
          upTo += deposit.assets - deposit.claimed
          part = (whole * upTo) / claimable - distributed
          distributed += part
        }
        return {
          status,
          epochId: Number(deposit.epoch),
          amounts: {
            depositedAssets: `${deposit.assets}`,
            pendingDeposit: `${status === 'pending' ? deposit.assets : 0n}`,
            claimableShares: `${part}`,
            currentShares: `${deposit.cancelled ? 0n : (remainingShares.get(deposit) ?? 0n)}`,
          },
        }
      })
      .toReversed()
  }
}

type Command = {
  readonly what:
    | 'request'
    | 'cancel'
    | 'propose'
    | 'settle'
    | 'claim'
    | 'sync'
    | 'transfer'
    | 'redeem'
    | 'take'
    | 'gain'
    | 'record'
    | 'gift'
    | 'arrive'
    | 'claim for'
    | 'leave'
    | 'nothing'
    | 'claims'
    | 'redeem for'
    | 'cancel redeem'
  readonly vault: number
  readonly user: number
  readonly other: number
  /**
   * Amount of the action in thousandths of the shares or assets that the user can use. A deposit has no such limit,
   * so its amount is computed from this number alone.
   */
  readonly part: number
}

const command: fc.Arbitrary<Command> = fc.record({
  what: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('request' as const, 'sync' as const) },
    { weight: 5, arbitrary: fc.constantFrom('settle' as const, 'claim' as const) },
    { weight: 6, arbitrary: fc.constantFrom('transfer' as const, 'redeem' as const, 'take' as const, 'gain' as const) },
    { weight: 3, arbitrary: fc.constantFrom('cancel' as const, 'propose' as const, 'record' as const) },
    { weight: 2, arbitrary: fc.constant('cancel redeem' as const) },
    { weight: 3, arbitrary: fc.constantFrom('gift' as const, 'claim for' as const, 'arrive' as const) },
    { weight: 4, arbitrary: fc.constantFrom('leave' as const, 'nothing' as const, 'claims' as const) },
    { weight: 1, arbitrary: fc.constant('redeem for' as const) },
  ),
  vault: fc.nat({ max: KINDS.length - 1 }),
  user: fc.nat({ max: 2 }),
  other: fc.nat({ max: 1 }),
  part: fc.integer({ min: 1, max: 1000 }),
})

const test = base.extend('silence', { scope: 'file' }, () => createEmptyBlocks())

test('After random histories, positions, deposits and withdrawals equal the model of the vaults, live and recorded', {
  timeout: 120_000,
}, async ({ service, silence, transfers }) => {
  const chain = service.backends.chains[0] as Service['backends']['chains'][number]
  silence.applyTo(service.rpc[8453] as RecordingProxy)
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 30, maxLength: 60 }), async (commands) => {
      const models = await Promise.all(
        KINDS.map(async (kind) => {
          const vault = await (kind === 'sync'
            ? openYieldVault(service)
            : openLagoonVault(service, { generation: kind, ...RATES[kind] }))
          return new Model(kind, vault)
        }),
      )
      const key = await service.createClient(models.map(({ vault }) => ({ chainId: 8453, address: vault.address })))
      const views = createUserViews(service, key)
      await fundAll(chain, models)

      const record = () => recordAfterEmptyBlocks(service, chain, silence)
      const check = (accounts: readonly Address[] = ACCOUNTS_CHECKED) =>
        expectModelledResponses(views, models, accounts)
      const checkSums = () => {
        for (const model of models) {
          // Only v0.4 vaults are checked. In other vaults, fees and haircuts give a part of the gains to accounts
          // other than the test's users.
          if (model.kind !== '0.4') continue
          const earned = USER_ADDRESSES.reduce((sum, user) => {
            const { deposited, withdrawn } = model.account(user)
            return sum + model.value(user) + withdrawn - deposited
          }, 0n)
          // Rounding changes the users' gains by less than one unit of the asset per division. Each event has one
          // division, and each user has two. The vault's virtual shares also get a part of the gains.
          const lost = model.gains - earned
          const rounding = BigInt(model.events + 2 * USER_ADDRESSES.length)
          const unowned = model.worth(model.virtual) + 1n
          expect(lost).toBeGreaterThanOrEqual(-rounding - unowned)
          expect(lost).toBeLessThanOrEqual(rounding + unowned)
        }
      }

      for (const [index, step] of commands.entries()) {
        if (step.what === 'record') await record()
        else if (step.what === 'arrive') await depositByFill(transfers, models[step.vault] as Model, step)
        else await perform(chain, models[step.vault] as Model, step)
        // Most checks are limited to the user who acted last, to save time. The check at the end covers all users.
        if (index % 3 === 2) await check([USER_ADDRESSES[step.user] as Address])
      }
      for (const model of models.filter(({ kind }) => kind !== 'sync')) await close(chain, model)
      await check()
      checkSums()
      await record()
      await record()
      await check()
    }),
    { numRuns: scaleSampleCount(3), endOnFailure: true },
  )
})

type Chain = { readonly rpcUrl: string }
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

/**
 * Returns the fee shares that each transaction minted. `ofValuation` is the sum of the mints before the transaction's
 * first other share transfer: they are fees for the new valuation. `received` lists all mints for the fee receiver.
 */
async function feesIn(chain: Chain, { vault }: Model, hashes: readonly Hash[]) {
  const receipts = await callRpc(
    chain,
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )
  return receipts.map((receipt) => {
    const { logs } = receipt as { logs: Parameters<typeof parseEventLogs>[0]['logs'] }
    const own = parseEventLogs({ abi: LAGOON_ABI, logs }).filter(
      ({ address }) => address.toLowerCase() === vault.address.toLowerCase(),
    )
    const transfers = own.flatMap((log) => (log.eventName === 'Transfer' ? [log.args] : []))
    const isFee = ({ from, to }: { from: Address; to: Address }) =>
      from === zeroAddress && (to === FEE_RECEIVER || to === FEE_REGISTRY)
    const other = transfers.findIndex((transfer) => !isFee(transfer))
    const sum = (of: readonly { value: bigint }[]) => of.reduce((total, { value }) => total + value, 0n)
    return {
      ofValuation: sum(transfers.slice(0, other < 0 ? transfers.length : other).filter(isFee)),
      received: transfers.filter(isFee).filter(({ to }) => to === FEE_RECEIVER),
    }
  })
}

async function sendAndRepeat(
  chain: Chain,
  model: Model,
  sent: LocalTransaction,
  inModel: (feesOfValuation: bigint) => void,
): Promise<void> {
  const hashes = await transact(chain, [sent])
  if (model.rates === NO_FEES) return inModel(0n)
  const [fees] = await feesIn(chain, model, hashes)
  inModel(fees?.ofValuation ?? 0n)
  for (const { value } of fees?.received ?? []) model.receive(FEE_RECEIVER, value)
}

function buildMulticall(
  vault: Address,
  calls: readonly (readonly [FunctionName, readonly unknown[]])[],
): LocalTransaction {
  const datas = calls.map(([functionName, args]) => ({
    target: vault,
    allowFailure: false,
    callData: encodeCall(functionName, args),
  }))
  return buildTransaction(ROLES.admin, MULTICALL3, 'aggregate3', [datas])
}

async function close(chain: Chain, model: Model): Promise<void> {
  const { vault, assets } = model
  await transact(chain, [
    buildTransaction(ROLES.safe, vault.token, 'mint', [ROLES.safe, 10n ** 15n]),
    buildTransaction(ROLES.admin, vault.address, 'initiateClosing', []),
    buildTransaction(ROLES.valuationManager, vault.address, 'updateNewTotalAssets', [assets]),
  ])
  model.propose()
  await sendAndRepeat(chain, model, buildTransaction(ROLES.safe, vault.address, 'close', [assets]), (fees) =>
    model.settle(assets, fees),
  )
  for (const user of USER_ADDRESSES) {
    const claimed = model.claimableRedeem(user)
    const shares = model.account(user).shares / 3n
    const redeem = (amount: bigint): [FunctionName, readonly unknown[]] => ['redeem', [amount, user, user]]
    // The first claim has as many shares as the redemptions after it, so the service cannot identify events by their
    // amounts.
    const part = min(claimed, shares)
    const claims = [part, claimed - part].filter((amount) => amount > 0n)
    const directs = shares > 0n && model.pendingRedeem(user) === 0n ? [shares, shares] : []
    if (claims.length + directs.length === 0) continue
    await sendAndRepeat(chain, model, buildMulticall(vault.address, [...claims, ...directs].map(redeem)), () => {
      for (const amount of claims) model.redeem(user, amount)
      for (const amount of directs) model.withdrawNow(user, amount)
    })
  }
}

async function fundAll(chain: Chain, models: readonly Model[]): Promise<void> {
  const plenty = 10n ** 15n
  await transact(
    chain,
    USER_ADDRESSES.flatMap((user) => [
      buildTransaction(user, models[0]?.vault.token as Address, 'mint', [user, plenty]),
      ...models
        .filter(({ kind }) => kind !== 'sync')
        .map(({ vault }) => buildTransaction(user, vault.address, 'setOperator', [MULTICALL3, true])),
      ...models.map(({ vault }) => buildTransaction(user, vault.token, 'approve', [vault.address, plenty])),
    ]),
  )
}

async function depositByFill(transfers: Transfers, model: Model, { user: index, part }: Command): Promise<void> {
  const user = USER_ADDRESSES[index] as Address
  const { address, token } = model.vault
  if (model.kind !== 'sync' && model.pending(user) > 0n && model.account(user).epoch !== model.depositEpoch) return
  const outputAmount = 1_000_000n + BigInt(part) * 1_234_567n
  const entry = model.kind === 'sync' ? 'deposit' : 'requestDeposit'
  arrivals += 1n
  const deposit = {
    ...{ originChainId: ARBITRUM, destinationChainId: BASE, depositId: arrivals, transactionHash: zeroHash },
    ...{ depositor: pad(user), recipient: pad(HANDLER), exclusiveRelayer: zeroHash },
    ...{ inputToken: pad(token), outputToken: pad(token), inputAmount: outputAmount, outputAmount },
    ...{ fillDeadline: (await transfers.clockOf(BASE)) + 3_600, exclusivityDeadline: 0 },
    message: depositMessage({ token, vault: address, user, entry }),
    // The fill's result does not depend on these values of the bridge deposit.
    ...{ quoteTimestamp: 0, blockNumber: 0n, logIndex: 0 },
  }
  await transfers.sendTogether(BASE, transfers.fillCalls({ deposit }))
  if (model.kind === 'sync') model.sync(user, outputAmount)
  else model.request(user, outputAmount)
}
let arrivals = 10n ** 9n

async function perform(chain: Chain, model: Model, { what, user: index, other, part }: Command): Promise<void> {
  const { vault, kind } = model
  const user = USER_ADDRESSES[index] as Address
  const receiver = USER_ADDRESSES[(index + 1 + other) % 3] as Address
  const send = (from: Address, functionName: FunctionName, ...args: readonly unknown[]) =>
    transact(chain, [buildTransaction(from, vault.address, functionName, args)])
  const portion = (whole: bigint) => (whole * BigInt(part)) / 1000n
  const amount = 1_000_000n + BigInt(part) * 7_654_321n

  if (kind === 'sync') {
    if (what === 'request' || what === 'sync') {
      await send(user, 'deposit', amount, user)
      model.sync(user, amount)
    } else if (what === 'take' || what === 'redeem') {
      const shares = portion(model.account(user).shares)
      if (shares === 0n || model.worth(shares) === 0n) return
      await send(user, 'redeem', shares, user, user)
      model.withdrawNow(user, shares)
    } else if (what === 'transfer') {
      const shares = portion(model.account(user).shares)
      if (shares === 0n) return
      await send(user, 'transfer', receiver, shares)
      model.transfer(user, receiver, shares)
    } else if (what === 'gain') {
      const gain = portion(model.assets) / 20n
      await transact(chain, [buildTransaction(user, vault.token, 'mint', [vault.address, gain])])
      model.assets += gain
    }
    return
  }
  const settle = (valuation: bigint) =>
    sendAndRepeat(chain, model, buildTransaction(ROLES.safe, vault.address, 'settleDeposit', [valuation]), (fees) =>
      model.settle(valuation, fees),
    )
  if ((what === 'sync' && kind !== '0.4') || (what === 'leave' && kind === '0.6')) {
    // The valuation stays valid for a day, because the vault accepts instant deposits and withdrawals only with a
    // valid valuation.
    await transact(chain, [
      buildTransaction(ROLES.safe, vault.address, 'updateTotalAssetsLifespan', [86_400n]),
      buildTransaction(ROLES.valuationManager, vault.address, 'updateNewTotalAssets', [model.assets]),
    ])
    model.propose()
    await settle(model.assets)
    if (what === 'sync' || model.account(user).shares === 0n) {
      const deposit = buildTransaction(user, vault.address, 'syncDeposit', [amount, user, user])
      await sendAndRepeat(chain, model, deposit, () => model.sync(user, amount))
    }
    if (what === 'leave') {
      const shares = portion(model.account(user).shares)
      const leave = buildTransaction(user, vault.address, 'syncRedeem', [shares, user, 0n])
      await sendAndRepeat(chain, model, leave, () => model.withdrawNow(user, shares, model.rates.haircutRate))
    }
    await transact(chain, [
      buildTransaction(ROLES.safe, vault.address, 'expireTotalAssets', []),
      buildTransaction(ROLES.safe, vault.address, 'updateTotalAssetsLifespan', [0n]),
    ])
  } else if (what === 'nothing') {
    // Anyone may request a deposit of 0 for a user, and the vault then claims the settled amount. The vault refuses
    // such a request while the user has a pending request of an earlier epoch.
    const blocked = model.pending(receiver) > 0n && model.account(receiver).epoch !== model.depositEpoch
    if (!blocked) {
      await send(user, 'requestDeposit', 0n, receiver, user)
      model.request(receiver, 0n)
    }
    if (model.pendingRedeem(receiver) > 0n && model.account(receiver).redeemEpoch !== model.redeemEpoch) return
    await send(user, 'requestRedeem', 0n, receiver, user)
    model.requestRedeem(receiver, 0n)
  } else if (what === 'claims') {
    const claimable = model.claimable(user)
    const redeemable = model.claimableRedeem(user)
    const deposits = claimable > 3n ? [portion(claimable / 2n), portion(claimable / 2n)].filter((of) => of > 0n) : []
    const redeems = redeemable > 3n ? [redeemable / 3n, redeemable / 3n] : []
    if (deposits.length + redeems.length === 0) return
    const calls = [
      ...deposits.map((assets) => ['deposit', [assets, user, user]] as const),
      ...redeems.map((shares) => ['redeem', [shares, user, user]] as const),
    ]
    await transact(chain, [buildMulticall(vault.address, calls)])
    for (const assets of deposits) model.claim(user, assets)
    for (const shares of redeems) model.redeem(user, shares)
  } else if (what === 'redeem for') {
    const shares = portion(model.account(user).shares)
    const blocked = model.pendingRedeem(receiver) > 0n && model.account(receiver).redeemEpoch !== model.redeemEpoch
    if (shares === 0n || blocked) return
    await send(user, 'requestRedeem', shares, receiver, user)
    model.transfer(user, receiver, shares)
    model.requestRedeem(receiver, shares)
  } else if (what === 'request' || what === 'sync' || what === 'gift') {
    const controller = what === 'gift' ? receiver : user
    if (model.pending(controller) > 0n && model.account(controller).epoch !== model.depositEpoch) return
    await send(user, 'requestDeposit', amount, controller, user)
    model.request(controller, amount)
  } else if (what === 'claim for') {
    const claimable = model.claimable(user)
    await send(ROLES.safe, 'claimSharesOnBehalf', [user])
    if (claimable > 0n) model.claim(user, claimable)
  } else if (what === 'cancel') {
    if (model.account(user).epoch !== model.depositEpoch) return
    await send(user, 'cancelRequestDeposit')
    model.cancel(user)
  } else if (what === 'propose') {
    await send(ROLES.valuationManager, 'updateNewTotalAssets', model.assets)
    model.propose()
  } else if (what === 'settle' || what === 'gain') {
    // A step of the kind "gain" changes the valuation by -2.5 % to +5 %.
    const change = what === 'gain' ? (model.assets * BigInt(part - 333)) / 13_340n : 0n
    const valuation = model.assets + change
    await transact(chain, [
      ...(change > 0n ? [buildTransaction(ROLES.safe, vault.token, 'mint', [ROLES.safe, change])] : []),
      buildTransaction(ROLES.valuationManager, vault.address, 'updateNewTotalAssets', [valuation]),
    ])
    model.propose()
    await settle(valuation)
  } else if (what === 'claim') {
    const assets = portion(model.claimable(user))
    if (assets === 0n) return
    await send(user, 'deposit', assets, user, user)
    model.claim(user, assets)
  } else if (what === 'transfer') {
    const shares = portion(model.account(user).shares)
    if (shares === 0n) return
    await send(user, 'transfer', receiver, shares)
    model.transfer(user, receiver, shares)
  } else if (what === 'redeem') {
    const shares = portion(model.account(user).shares)
    const blocked = model.pendingRedeem(user) > 0n && model.account(user).redeemEpoch !== model.redeemEpoch
    if (shares === 0n || blocked) return
    await send(user, 'requestRedeem', shares, user, user)
    model.requestRedeem(user, shares)
  } else if (what === 'cancel redeem') {
    if (kind !== '0.6' || model.pendingRedeem(user) === 0n) return
    if (model.account(user).redeemEpoch !== model.redeemEpoch) return
    await send(user, 'cancelRequestRedeem', user)
    model.cancelRedeem(user)
  } else if (what === 'take') {
    const shares = portion(model.claimableRedeem(user))
    if (shares === 0n) return
    await send(user, 'redeem', shares, user, user)
    model.redeem(user, shares)
  }
}
