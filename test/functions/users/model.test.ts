import * as fc from 'fast-check'
import { type Address, encodeFunctionData, pad, parseAbi, zeroHash } from 'viem'
import { expect } from 'vitest'
import { callRpc } from '../../../infra/local/rpc.ts'
import { type LocalTransaction, transact } from '../../../infra/local/transactions.ts'
import { LAGOON } from '../../infra/local/lagoon-abi.ts'
import { refresh, viewsFor } from '../../support/records.ts'
import { type Service, USERS } from '../../support/service.ts'
import { createSilence } from '../../support/silence.ts'
import { ARBITRUM, BASE, test as base, depositMessage, HANDLER, type Transfers } from '../../support/transfers.ts'
import { openLagoonVault, openYieldVault, ROLES, type TestVault } from '../../support/vaults.ts'
import type { Wire } from '../../support/wire.ts'

/**
 * Random histories of several users in several vaults, made on a chain and told to a model of the vaults side by side.
 * The model is written from the vaults' rules and the meanings of the fields, and shares nothing with the service.
 */
const USER_ADDRESSES = USERS.slice(0, 3).map(({ address }) => address)
const KINDS = ['0.4', '0.5', '0.6', 'sync'] as const
const OFFSET = 10n ** 12n

type Kind = (typeof KINDS)[number]
type Status = 'pending' | 'claimable' | 'completed' | 'cancelled'
type Deposit = { epoch: bigint; assets: bigint; claimed: bigint; minted: bigint; cancelled: boolean }
type Source = { deposit: Deposit | null; shares: bigint }
type Account = {
  shares: bigint
  epoch: bigint
  requested: bigint
  redeemEpoch: bigint
  redeeming: bigint
  deposits: Deposit[]
  sources: Source[]
  deposited: bigint
  withdrawn: bigint
  used: boolean
}
type Rate = { assets: bigint; supply: bigint }

const min = (left: bigint, right: bigint) => (left < right ? left : right)

/** A vault as its documentation describes it. */
class Model {
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
  /** All that the vault gained, less what it lost. */
  gains = 0n
  events = 0

  readonly kind: Kind
  readonly vault: TestVault

  constructor(kind: Kind, vault: TestVault) {
    this.kind = kind
    this.vault = vault
    for (const user of USER_ADDRESSES) {
      this.accounts.set(user, {
        ...{ shares: 0n, epoch: 0n, requested: 0n, redeemEpoch: 0n, redeeming: 0n },
        ...{ deposits: [], sources: [], deposited: 0n, withdrawn: 0n, used: false },
      })
    }
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
    return claimable === 0n ? 0n : this.sharesFor(claimable, this.depositRates.get(this.account(user).epoch))
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
    return shares === 0n ? 0n : this.worth(shares, this.redeemRates.get(this.account(user).redeemEpoch))
  }

  request(user: Address, assets: bigint): void {
    if (this.claimable(user) > 0n) this.claim(user, this.claimable(user))
    const account = this.account(user)
    if (account.epoch !== this.depositEpoch) Object.assign(account, { epoch: this.depositEpoch, requested: 0n })
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
  settle(valuation: bigint): void {
    this.gains += valuation - this.assets
    this.assets = valuation
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
    const paid = this.worth(this.pendingShares)
    if (paid > 0n) {
      const rate = { assets: this.assets, supply: this.supply }
      for (let epoch = this.settledRedeems + 2n; epoch < this.redeemEpoch; epoch += 2n)
        this.redeemRates.set(epoch, rate)
      this.supply -= this.pendingShares
      this.assets -= paid
      this.pendingShares = 0n
      this.settledRedeems = this.redeemEpoch - 2n
    }
  }
  claim(user: Address, assets: bigint): void {
    const account = this.account(user)
    const shares = this.sharesFor(assets, this.depositRates.get(account.epoch))
    account.requested -= assets
    account.shares += shares
    this.events += 1
    // The oldest first, each its part of this claim.
    let [rest, upTo, given] = [assets, 0n, 0n]
    for (const source of account.sources) {
      const { deposit } = source
      if (!deposit || deposit.epoch !== account.epoch || deposit.cancelled) continue
      const taken = min(rest, deposit.assets - deposit.claimed)
      rest -= taken
      upTo += taken
      deposit.claimed += taken
      const part = (shares * upTo) / assets - given
      given += part
      source.shares += part
    }
  }
  sync(user: Address, assets: bigint): void {
    const shares = this.sharesFor(assets)
    const account = this.account(user)
    const deposit = { epoch: 0n, assets, claimed: assets, minted: shares, cancelled: false }
    account.deposits.push(deposit)
    account.sources.push({ deposit, shares })
    account.shares += shares
    account.deposited += assets
    account.used = true
    this.assets += assets
    this.supply += shares
    this.events += 1
  }
  transfer(from: Address, to: Address, shares: bigint, value = this.worth(shares)): void {
    const [sender, receiver] = [this.account(from), this.account(to)]
    sender.shares -= shares
    sender.withdrawn += value
    receiver.shares += shares
    receiver.deposited += value
    receiver.used = true
    receiver.sources.push({ deposit: null, shares })
    this.events += 2
  }
  requestRedeem(user: Address, shares: bigint): void {
    if (this.claimableRedeem(user) > 0n) this.redeem(user, this.claimableRedeem(user))
    const account = this.account(user)
    if (account.redeemEpoch !== this.redeemEpoch)
      Object.assign(account, { redeemEpoch: this.redeemEpoch, redeeming: 0n })
    account.redeeming += shares
    account.shares -= shares
    this.pendingShares += shares
  }
  redeem(user: Address, shares: bigint): void {
    const account = this.account(user)
    account.withdrawn += this.worth(shares, this.redeemRates.get(account.redeemEpoch))
    account.redeeming -= shares
    this.events += 1
  }
  withdrawNow(user: Address, shares: bigint): void {
    const assets = this.worth(shares)
    const account = this.account(user)
    account.shares -= shares
    account.withdrawn += assets
    this.assets -= assets
    this.supply -= shares
    this.events += 1
  }

  // ------------------------------------------------------------------------------------------ what is to be answered

  value(user: Address): bigint {
    const shares = this.account(user).shares + this.claimableShares(user) + this.pendingRedeem(user)
    return this.pending(user) + this.worth(shares) + this.claimableRedeemAssets(user)
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

  /** Newest first. */
  history(user: Address) {
    const { deposits, sources, shares } = this.account(user)
    let spent = sources.reduce((sum, source) => sum + source.shares, 0n) - shares
    const kept = new Map<Deposit, bigint>()
    for (const source of sources) {
      const gone = min(spent, source.shares)
      spent -= gone
      if (source.deposit) kept.set(source.deposit, source.shares - gone)
    }
    const whole = this.claimableShares(user)
    const claimable = this.claimable(user)
    let [upTo, given] = [0n, 0n]
    return deposits
      .map((deposit) => {
        const status = this.statusOf(user, deposit)
        let part = 0n
        if (status === 'claimable') {
          upTo += deposit.assets - deposit.claimed
          part = (whole * upTo) / claimable - given
          given += part
        }
        return {
          status,
          epochId: Number(deposit.epoch),
          amounts: {
            depositedAssets: `${deposit.assets}`,
            pendingDeposit: `${status === 'pending' ? deposit.assets : 0n}`,
            claimableShares: `${part}`,
            currentShares: `${deposit.cancelled ? 0n : (kept.get(deposit) ?? 0n)}`,
          },
        }
      })
      .toReversed()
  }
}

const CALLS = [
  ...LAGOON,
  ...parseAbi([
    'function transfer(address to, uint256 amount) returns (bool)',
    'function mint(address to, uint256 amount)',
  ]),
]

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
  readonly vault: number
  readonly user: number
  readonly other: number
  /** What part of what there is, in thousandths; of a million where there is nothing to take a part of. */
  readonly part: number
}

const command: fc.Arbitrary<Command> = fc.record({
  what: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('request' as const, 'sync' as const) },
    { weight: 5, arbitrary: fc.constantFrom('settle' as const, 'claim' as const) },
    { weight: 6, arbitrary: fc.constantFrom('transfer' as const, 'redeem' as const, 'take' as const, 'gain' as const) },
    { weight: 3, arbitrary: fc.constantFrom('cancel' as const, 'propose' as const, 'record' as const) },
    { weight: 3, arbitrary: fc.constantFrom('gift' as const, 'claim for' as const, 'arrive' as const) },
  ),
  vault: fc.nat({ max: KINDS.length - 1 }),
  user: fc.nat({ max: 2 }),
  other: fc.nat({ max: 1 }),
  part: fc.integer({ min: 1, max: 1000 }),
})

const test = base.extend('silence', { scope: 'file' }, () => createSilence())

test('Over random histories, positions and deposits are what the vaults did, to the last unit, live and recorded', {
  timeout: 120_000,
}, async ({ service, silence, transfers }) => {
  const chain = service.backends.chains[0] as Service['backends']['chains'][number]
  silence.applyTo(service.rpc[8453] as Wire)
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 30, maxLength: 60 }), async (commands) => {
      const models = await Promise.all(
        KINDS.map(async (kind) => {
          const vault = await (kind === 'sync'
            ? openYieldVault(service)
            : openLagoonVault(service, { generation: kind }))
          return new Model(kind, vault)
        }),
      )
      const key = await service.createClient(models.map(({ vault }) => ({ chainId: 8453, address: vault.address })))
      const views = viewsFor(service, key)
      await fundAll(chain, models)

      const record = async () => {
        const [head] = await callRpc(chain, [{ method: 'eth_blockNumber', params: [] }])
        silence.add(Number(head), 300)
        await refresh(8453)
      }
      const check = async () => {
        for (const user of USER_ADDRESSES) {
          const [positions, deposits] = await Promise.all([views.positions(user), views.deposits(user, '?limit=100')])
          for (const model of models) {
            const shown = positions.body.positions.find(
              ({ vaultAddress }: { vaultAddress: Address }) => vaultAddress === model.vault.address,
            )
            const entries = deposits.body.deposits.filter(
              ({ vaultAddress }: { vaultAddress: Address }) => vaultAddress === model.vault.address,
            )
            if (!model.account(user).used) expect([shown, entries]).toEqual([undefined, []])
            else {
              expect(shown).toMatchObject(model.position(user))
              expect(entries).toMatchObject(model.history(user))
            }
          }
        }
      }
      const checkSums = () => {
        for (const model of models) {
          if (model.kind === 'sync') continue
          const earned = USER_ADDRESSES.reduce((sum, user) => {
            const { deposited, withdrawn } = model.account(user)
            return sum + model.value(user) + withdrawn - deposited
          }, 0n)
          // Every division that rounds leaves less than a unit in the vault: one for each event that divided, and
          // one for each user's value. What is nobody's, the virtual share, keeps its part of the gains.
          const lost = model.gains - earned
          const rounding = BigInt(model.events + 2 * USER_ADDRESSES.length)
          const unowned = model.worth(model.virtual) + 1n
          expect(lost).toBeGreaterThanOrEqual(-rounding - unowned)
          expect(lost).toBeLessThanOrEqual(rounding + unowned)
        }
      }

      for (const [index, step] of commands.entries()) {
        if (step.what === 'record') await record()
        else if (step.what === 'arrive') await arrive(transfers, models[step.vault] as Model, step)
        else await perform(chain, models[step.vault] as Model, step)
        if (index % 10 === 9) await check()
      }
      await check()
      checkSums()
      await record()
      await record()
      await check()
    }),
    { numRuns: 10, endOnFailure: true },
  )
})

type Chain = { readonly rpcUrl: string }
const call = (from: Address, to: Address, functionName: string, args: readonly unknown[]): LocalTransaction => ({
  label: functionName,
  from,
  to,
  // viem cannot check arguments by a name that is not known when it compiles; the chain does.
  data: encodeFunctionData({ abi: CALLS, functionName, args } as never),
})

/** Every user has plenty of the asset, and every vault may take it. */
async function fundAll(chain: Chain, models: readonly Model[]): Promise<void> {
  const approve = parseAbi(['function approve(address spender, uint256 amount)'])
  const plenty = 10n ** 15n
  await transact(
    chain,
    USER_ADDRESSES.flatMap((user) => [
      call(user, models[0]?.vault.token as Address, 'mint', [user, plenty]),
      ...models.map(({ vault }) => ({
        label: 'approve',
        from: user,
        to: vault.token,
        data: encodeFunctionData({ abi: approve, functionName: 'approve', args: [vault.address, plenty] }),
      })),
    ]),
  )
}

/** A fill of the bridge's that deposits for a user what came from another chain, where the vault allows it now. */
async function arrive(transfers: Transfers, model: Model, { user: index, part }: Command): Promise<void> {
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
    // Where it was deposited is not the fill's business.
    ...{ quoteTimestamp: 0, blockNumber: 0n, logIndex: 0 },
  }
  await transfers.sendTogether(BASE, transfers.fillCalls({ deposit }))
  if (model.kind === 'sync') model.sync(user, outputAmount)
  else model.request(user, outputAmount)
}
let arrivals = 10n ** 9n

/** Does on the chain and in the model what the step says, where the vault allows it now. */
async function perform(chain: Chain, model: Model, { what, user: index, other, part }: Command): Promise<void> {
  const { vault, kind } = model
  const user = USER_ADDRESSES[index] as Address
  const receiver = USER_ADDRESSES[(index + 1 + other) % 3] as Address
  const send = (from: Address, functionName: string, ...args: readonly unknown[]) =>
    transact(chain, [call(from, vault.address, functionName, args)])
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
    } else if (what === 'gain') {
      const gain = portion(model.assets) / 20n
      await transact(chain, [call(user, vault.token, 'mint', [vault.address, gain])])
      model.assets += gain
    }
    return
  }
  if (what === 'sync' && kind !== '0.4') {
    // A valuation stands for a moment.
    await transact(chain, [
      call(ROLES.safe, vault.address, 'updateTotalAssetsLifespan', [86_400n]),
      call(ROLES.valuationManager, vault.address, 'updateNewTotalAssets', [model.assets]),
      call(ROLES.safe, vault.address, 'settleDeposit', [model.assets]),
      call(user, vault.address, 'syncDeposit', [amount, user, user]),
      call(ROLES.safe, vault.address, 'expireTotalAssets', []),
      call(ROLES.safe, vault.address, 'updateTotalAssetsLifespan', [0n]),
    ])
    model.propose()
    model.settle(model.assets)
    model.sync(user, amount)
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
    // A gain of up to five percent, or a loss of up to half of that.
    const change = what === 'gain' ? (model.assets * BigInt(part - 333)) / 13_340n : 0n
    const valuation = model.assets + change
    await transact(chain, [
      ...(change > 0n ? [call(ROLES.safe, vault.token, 'mint', [ROLES.safe, change])] : []),
      call(ROLES.valuationManager, vault.address, 'updateNewTotalAssets', [valuation]),
      call(ROLES.safe, vault.address, 'settleDeposit', [valuation]),
    ])
    model.propose()
    model.settle(valuation)
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
  } else if (what === 'take') {
    const shares = portion(model.claimableRedeem(user))
    if (shares === 0n) return
    await send(user, 'redeem', shares, user, user)
    model.redeem(user, shares)
  }
}
