import type { Address, Hex } from 'viem'
import { amountWord, buildBalanceSlotTest } from '../chain/balance-slots.ts'
import { buildCall, type ContractCall, decodeReturnValues } from '../chain/call.ts'
import { encodeApprovals, erc20Abi } from '../chain/erc20.ts'
import { buildReadPlan, type ChainReader, joinReadPlans } from '../chain/reader.ts'
import type { RpcOutcome } from '../chain/rpc.ts'
import {
  boundedSimulationRequest,
  parseSimulatedBlocks,
  type SimulatedTransaction,
  type StorageOverrides,
} from '../chain/simulation.ts'
import type { Transaction } from '../chain/transaction.ts'
import { max, min } from '../core/bigint.ts'
import { AppError } from '../core/errors.ts'
import { vaultAbi } from './abi.ts'
import type { DepositOperation, WithdrawalOperation } from './calldata.ts'
import { cooldownShares, unstake } from './cooldown/calldata.ts'
import type { CooldownVault } from './cooldown/vault.ts'
import { redeem } from './erc4626/calldata.ts'
import { requestRedeem } from './erc7540/calldata.ts'
import { REVERT_ERRORS } from './known-errors.ts'
import { syncRedeem } from './lagoon/calldata.ts'
import { findDepositOperation } from './operations.ts'
import { getProtocol } from './protocols.ts'
import { formatPercent, type SimulatedRoundTrip } from './terms.ts'
import { isAsync, type ProtocolName, type VaultOnChain } from './vault-on-chain.ts'

/**
 * Result of a simulated deposit and withdrawal, for which token balances were overridden. `untried` is the reason if
 * nothing could be measured.
 */
export type SimulatedTrip = {
  /** Block on whose state the simulation runs. */
  readonly block: bigint
  /** Deposited amount, in the asset's smallest unit. */
  readonly amount: bigint
  readonly measured?: MeasuredTrip
  readonly untried?: string
  /** Contradictions between the vault's reports and its behaviour. Each is a clause that begins with "it". */
  readonly contradictions: readonly string[]
}

type MeasuredTrip = {
  readonly roundTrip: SimulatedRoundTrip
  readonly deposit: string | undefined
  /**
   * Reason that the vault takes no deposit; undefined if it takes one. Without a deposit, the withdrawal is simulated
   * with overridden share balances.
   */
  readonly noDeposit: string | undefined
  readonly withdrawal: string | undefined
  /** Reason that the vault pays no withdrawal; undefined if it pays one. */
  readonly noExit: string | undefined
}

/** Withdrawal operations in the order in which the simulation tries them; instant ones are first. */
const EXITS = [
  { operation: redeem, exit: 'instant' },
  { operation: syncRedeem, exit: 'instant' },
  { operation: requestRedeem, exit: 'request' },
  { operation: cooldownShares, exit: 'cooldown' },
] as const

/**
 * Amount of the simulated deposit in whole tokens. MIN_UNITS is its minimum in smallest units: fees on smaller amounts
 * could not show two decimals of a percent.
 */
const WHOLE_TOKENS = 100n
const MIN_UNITS = 1_000_000n
const BASIS_POINTS = 10_000n
/** Maximum fee, in basis points, that counts as plausible: Lagoon allows 22 %. */
const MAX_FEE = 2_500n

/**
 * Simulates a deposit on the latest block and a withdrawal one block later, for an unused `account`. If the deposit
 * gives no shares immediately, the account's share balance is overridden. Throws `upstream_*`.
 */
export async function simulateRoundTrip(
  reader: ChainReader,
  vault: VaultOnChain,
  account: Address,
): Promise<SimulatedTrip> {
  const { asset, shareToken } = vault
  const { block, time, amount, worth, choice, slots } = await readStart(reader, vault, account)
  const reasonUntried = (untried: string, contradictions: readonly string[] = []) => ({
    ...{ block, amount, untried, contradictions },
  })
  if (!slots) return reasonUntried(CANNOT_SIMULATE)
  const simulate: Simulate = async (storage, blocks, until) => {
    const [outcome] = await reader.request([boundedSimulationRequest(account, blocks, { at: block, storage, until })])
    return parseBlocks(outcome, blocks)
  }
  const paid = slots.asset ? storageOf(asset, slots.asset, amount) : {}
  const hasAssets = slots.asset !== undefined
  const taken = await tryDeposit(simulate, { vault, account, amount, choice, hasAssets, storage: paid })
  // The withdrawal is simulated even if the deposit gave no shares. The account then gets an overridden share balance.
  const { deposit, got, left, findings } = taken
  const held = got > 0n ? got : worth
  if (!held) return reasonUntried(taken.why ?? 'the vault does not report what assets are worth in shares', findings)
  if (got === 0n && !slots.share)
    return reasonUntried(taken.why ?? 'the storage slot of share balances is not known', findings)
  const madeUp = got === 0n && slots.share ? storageOf(shareToken, slots.share, held) : {}
  const start = { vault, account, deposit, held, left, storage: { ...paid, ...madeUp }, time }
  const ways = await tryExits(simulate, start)
  if (!ways) return reasonUntried(CANNOT_SIMULATE, findings)

  const { way, valueBefore, valueAfter } = ways
  // A failed deposit alone does not end the simulation: a vault that takes no deposit now, such as a paused one, may
  // still pay withdrawals.
  if (taken.why !== undefined && !way) return reasonUntried(`${taken.why}, and ${ways.refusal}`, findings)
  const entryFee = got > 0n ? feeOf(amount - left, valueBefore) : null
  const exitFee = way?.exit === 'instant' ? feeOf(valueAfter, way.paid) : null
  return {
    block,
    amount,
    measured: {
      roundTrip: {
        entry: isAsync(vault, 'deposit') && got === 0n ? 'request' : 'instant',
        exit: way?.exit ?? 'none',
        entryFee: percent(entryFee),
        exitFee: percent(exitFee),
      },
      deposit: taken.why === undefined ? taken.name : undefined,
      noDeposit: taken.why,
      withdrawal: way?.name,
      noExit: way ? undefined : ways.refusal,
    },
    contradictions: [...findings, ...ways.findings, ...findInFees(entryFee, exitFee)],
  }
}

const CANNOT_SIMULATE = 'no node simulates with made-up balances'

type Attempt = { readonly vault: VaultOnChain; readonly account: Address; readonly storage: StorageOverrides }

type DepositAttempt = Attempt & {
  readonly amount: bigint
  readonly choice: { readonly operation: DepositOperation } | { readonly refusal: string }
  readonly hasAssets: boolean
}

/** `held` are the account's shares and `left` its assets after the deposit. `time` is that of the latest block, in seconds since 1970. */
type ExitAttempt = Attempt & {
  readonly deposit: readonly Transaction[]
  readonly held: bigint
  readonly left: bigint
  readonly time: bigint
}

type Simulate = (
  storage: StorageOverrides,
  blocks: readonly (readonly Transaction[])[],
  until?: bigint,
) => Promise<SimulatedTransaction[] | undefined>

function parseBlocks(outcome: RpcOutcome | undefined, blocks: readonly (readonly Transaction[])[]) {
  const lengths = blocks.map(({ length }) => length)
  return parseSimulatedBlocks(outcome, lengths, REVERT_ERRORS)?.flat()
}

function balancesOf({ asset, shareToken }: VaultOnChain, account: Address) {
  return {
    assets: buildCall(asset, erc20Abi, 'balanceOf', [account]),
    shares: buildCall(shareToken, erc20Abi, 'balanceOf', [account]),
  }
}

/**
 * Reads in one HTTP request what the simulation starts from: block, deposit operation, amounts and storage slots of
 * balances. The slots are undefined if no node can simulate.
 */
async function readStart(reader: ChainReader, vault: VaultOnChain, account: Address) {
  const { address, asset, shareToken } = vault
  const most = max(WHOLE_TOKENS * 10n ** BigInt(vault.assetDecimals), MIN_UNITS)
  const calls = { worth: buildCall(address, vaultAbi, 'convertToShares', [most]) }
  const terms = getProtocol(vault).depositTerms(vault, account, most)
  const plan = joinReadPlans(
    // The plan returns the parser instead of calling it, because parsing throws if the vault refuses deposits. Such a
    // refusal is a result of the simulation, not its failure.
    { ...terms, parse: (read: Parameters<typeof terms.parse>[0]) => () => terms.parse(read) },
    buildReadPlan({ address, slots: {}, calls }, ({ answers }) => answers.worth),
  )
  const { assets, shares } = balancesOf(vault, account)
  const { storage, slotOf } = buildBalanceSlotTest([asset, shareToken], account)
  const blocks = [[view(assets), view(shares)]]
  const extraCalls = [boundedSimulationRequest(account, blocks, { storage })]
  const { block, value, outcomes } = await reader.readOne(plan, { extraCalls })
  const [parse, worth] = value
  const probed = parseBlocks(outcomes[0], blocks)
  const slots = probed && { asset: slotOf(decoded(assets, probed[0])), share: slotOf(decoded(shares, probed[1])) }
  const start = { block: block.number, time: block.timestamp, worth, slots }
  try {
    const { room, choose } = parse()
    const limit = room()
    const amount = limit !== undefined && limit > 0n ? min(limit, most) : most
    return { ...start, amount, choice: { operation: findDepositOperation(vault, choose(amount)) } }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { ...start, amount: most, choice: { refusal: error.message } }
  }
}

/**
 * Simulates a deposit. The result has the shares that arrive (`got`) and the assets that remain (`left`). If the
 * deposit fails, `why` is the reason.
 */
async function tryDeposit(simulate: Simulate, { vault, account, amount, choice, hasAssets, storage }: DepositAttempt) {
  const none = (why: string) => ({ why, deposit: [], name: undefined, got: 0n, left: 0n, findings: [] })
  if ('refusal' in choice) return none(`the vault takes no deposit (${choice.refusal})`)
  if (!hasAssets) return none(`the storage slot of ${vault.assetSymbol} balances is not known`)
  const { operation } = choice
  const deposit = [
    ...encodeApprovals({ token: vault.asset, spender: vault.address, amount }, 'exact'),
    { to: vault.address, data: operation.encode({ vault, account, amount }), value: 0n },
  ]
  const { assets, shares } = balancesOf(vault, account)
  const previewDeposit = buildCall(vault.address, vaultAbi, 'previewDeposit', [amount])
  const results = await simulate(storage, [[view(previewDeposit), ...deposit, view(assets), view(shares)]])
  if (!results) return none(CANNOT_SIMULATE)
  const [preview, approval, taken, ...after] = results
  if (approval?.status !== 'success') return none(`the approval of ${vault.assetSymbol} ${reasonOf(approval)}`)
  if (taken?.status !== 'success') return none(`${operation.name} ${reasonOf(taken)}`)
  const got = decoded(shares, after[1]) ?? 0n
  const left = decoded(assets, after[0]) ?? 0n
  const findings = findInDeposit(operation, { amount, left, got, preview: decoded(previewDeposit, preview) })
  return { why: undefined, deposit, name: operation.name, got, left, findings }
}

/**
 * Simulates withdrawals after a deposit. The result has the first withdrawal that works, and the value of the shares
 * before and after the deposit. Returns undefined if no node can simulate.
 */
async function tryExits(simulate: Simulate, attempt: ExitAttempt) {
  const { vault, account, deposit, held, left, storage } = attempt
  const { address, shareToken } = vault
  const { assets, shares } = balancesOf(vault, account)
  const value = buildCall(address, vaultAbi, 'convertToAssets', [held])
  const previewRedeem = buildCall(address, vaultAbi, 'previewRedeem', [held])
  const withdrawal = [
    ...[view(value), view(previewRedeem)],
    ...encodeApprovals({ token: shareToken, spender: address, amount: held }, 'exact'),
    ...EXITS.flatMap(({ operation }) => [
      { to: address, data: operation.encode({ vault, account, amount: held }), value: 0n },
      view(assets),
      view(shares),
    ]),
  ]
  const results = await simulate(storage, [[view(value), ...deposit], withdrawal])
  if (!results) return undefined
  const [before, , , after, preview, , ...rest] = results
  const tries = EXITS.map(({ operation: { name }, exit }, index) => {
    const [result, assetsThen, sharesThen] = rest.slice(3 * index)
    return { name, exit, result, assets: decoded(assets, assetsThen), shares: decoded(shares, sharesThen) }
  })
  const { way: found, refusals } = findExit(tries, { assets: left, shares: held })
  const unpaid = found && vault.protocol === 'cooldown' && (await tryCooldown(simulate, vault, attempt))
  // Withdrawals of plain ERC-4626 vaults are supported only if they pay instantly.
  const isKnown = vault.protocol !== 'erc4626' || found?.exit === 'instant'
  const way = isKnown && !unpaid ? found : undefined
  const findings = found ? findInWithdrawal(vault, found, { held, preview: decoded(previewRedeem, preview) }) : []
  const values = { valueBefore: decoded(value, before), valueAfter: decoded(value, after) }
  return { way, refusal: unpaid || refusals[USUAL_EXITS[vault.protocol]], findings, ...values }
}

/** Usual withdrawal operation of each protocol. If no operation works, the service reports the refusal of the usual one. */
const USUAL_EXITS = {
  lagoon: 'requestRedeem',
  erc7540: 'requestRedeem',
  cooldown: 'cooldownShares',
  erc4626: 'redeem',
} as const satisfies Record<ProtocolName, string>

/** Seconds that exceed any cooldown, because the vault's contract stores the duration in 24 bits. */
const AFTER_COOLDOWN = 2n ** 24n

/**
 * Simulates a cooldown from its beginning until after its end. Returns the reason if the vault pays nothing; undefined
 * if it pays. Also verifies that the assets wait in the silo, the contract that holds assets during a cooldown.
 */
async function tryCooldown(
  simulate: Simulate,
  vault: CooldownVault,
  { account, deposit, held, storage, time }: ExitAttempt,
): Promise<string | undefined> {
  const request = { vault, account, amount: held }
  const transactionOf = ({ encode }: WithdrawalOperation) => ({ to: vault.address, data: encode(request), value: 0n })
  const inSilo = buildCall(vault.asset, erc20Abi, 'balanceOf', [vault.silo])
  const { assets } = balancesOf(vault, account)
  const begun = [view(inSilo), transactionOf(cooldownShares), view(inSilo)]
  const ended = [view(assets), transactionOf(unstake), view(assets)]
  const results = await simulate(storage, [deposit, begun, ended], time + AFTER_COOLDOWN)
  if (!results) return 'no node simulates what comes after the cooldown'
  const [before, begin, after, paidBefore, end, paidAfter] = results.slice(deposit.length)
  // While the cooldown's duration is 0, the vault refuses `cooldownShares` and pays immediately instead.
  if (begin?.status !== 'success') return undefined
  const rise = (
    left: SimulatedTransaction | undefined,
    right: SimulatedTransaction | undefined,
    of: ContractCall<bigint>,
  ) => (decoded(of, right) ?? 0n) - (decoded(of, left) ?? 0n)
  if (rise(before, after, inSilo) <= 0n) return 'cooldownShares moves no assets to the silo that it reports'
  if (end?.status !== 'success') return `unstake after the cooldown ${reasonOf(end)}`
  return rise(paidBefore, paidAfter, assets) > 0n ? undefined : 'unstake after the cooldown pays nothing'
}

function findInDeposit(
  { name, isAsync }: DepositOperation,
  { amount, left, got, preview }: { amount: bigint; left: bigint; got: bigint; preview: bigint | undefined },
): string[] {
  return [
    ...(left > 0n ? [`it takes ${amount - left} of a deposit of ${amount} units by ${name}`] : []),
    ...(isAsync && got > 0n ? [`it says that deposits are requests, but ${name} gives shares immediately`] : []),
    ...(!isAsync && got === 0n ? [`it takes a deposit by ${name}, but no shares arrive`] : []),
    ...(!isAsync && got > 0n && isDifferent(preview, got)
      ? [`it previews ${preview} units of shares for a deposit, but ${got} arrive`]
      : []),
  ]
}

type ExitTrial = {
  readonly name: string
  readonly exit: 'instant' | 'request' | 'cooldown'
  readonly result: SimulatedTransaction | undefined
  readonly assets: bigint | undefined
  readonly shares: bigint | undefined
}
type WorkingExit = Pick<ExitTrial, 'name' | 'exit'> & { readonly paid: bigint; readonly taken: bigint }

function findExit(
  tries: readonly ExitTrial[],
  start: { readonly assets: bigint; readonly shares: bigint },
): { readonly way?: WorkingExit; readonly refusals: Readonly<Record<string, string>> } {
  const refusals: Record<string, string> = {}
  let { assets, shares } = start
  for (const { name, exit, result, ...after } of tries) {
    const [paid, taken] = [(after.assets ?? assets) - assets, shares - (after.shares ?? shares)]
    if (result?.status === 'success' && (exit === 'instant' ? paid : taken) > 0n) {
      return { way: { name, exit, paid, taken }, refusals }
    }
    refusals[name] =
      result?.status === 'success'
        ? `${name} takes ${taken} units of shares and pays nothing`
        : `${name} ${reasonOf(result)}`
    assets += paid
    shares -= taken
  }
  return { refusals }
}

function findInWithdrawal(
  vault: VaultOnChain,
  { name, exit, paid, taken }: WorkingExit,
  { held, preview }: { readonly held: bigint; readonly preview: bigint | undefined },
): string[] {
  const isRequested = isAsync(vault, 'withdrawal')
  return [
    ...(vault.protocol === 'erc7540' && isRequested && exit !== 'request'
      ? [
          `it says by ERC-165 that redemptions are requests, but ${exit === 'instant' ? `${name} pays immediately` : `only ${name} works`}`,
        ]
      : []),
    ...(!isRequested && exit !== 'instant' ? [`it does not say that withdrawals wait, but only ${name} works`] : []),
    ...(taken === held ? [] : [`it takes ${taken} of ${held} units of shares by ${name}`]),
    ...(name === 'redeem' && isDifferent(preview, paid)
      ? [`it previews ${preview} units of assets for a withdrawal, but pays ${paid}`]
      : []),
  ]
}

function findInFees(entryFee: bigint | null, exitFee: bigint | null): string[] {
  return [
    ...(entryFee !== null && entryFee < 0n ? ['it values shares at more than was paid for them'] : []),
    ...(exitFee !== null && exitFee < 0n ? ['it pays more for shares than it values them at'] : []),
    ...[entryFee, exitFee].flatMap((fee) =>
      fee !== null && fee > MAX_FEE ? [`it keeps ${percent(fee)} % immediately`] : [],
    ),
  ]
}

function isDifferent(preview: bigint | undefined, actual: bigint): boolean {
  if (preview === undefined) return false
  const difference = max(preview, actual) - min(preview, actual)
  return difference > 2n && difference * BASIS_POINTS > actual
}

/** Returns the loss from `before` to `after` in basis points, rounded; null if an amount is unknown or too small. */
function feeOf(before: bigint | undefined, after: bigint | undefined): bigint | null {
  if (before === undefined || after === undefined || before < BASIS_POINTS) return null
  const doubled = 2n * BASIS_POINTS * (before - after)
  return (doubled + (doubled < 0n ? -before : before)) / (2n * before)
}

function percent(basisPoints: bigint | null): string | null {
  if (basisPoints === null) return null
  return basisPoints < 0n ? `-${formatPercent(-basisPoints)}` : formatPercent(basisPoints)
}

function storageOf(token: Address, slot: Hex, amount: bigint): StorageOverrides {
  return { [token]: { stateDiff: { [slot]: amountWord(amount) } } }
}

function view({ to, data }: ContractCall<unknown>): Transaction {
  return { to, data, value: 0n }
}

function decoded<T>(call: ContractCall<T>, result: SimulatedTransaction | undefined): T | undefined {
  return decodeReturnValues([call], [result?.status === 'success' ? result.returnData : undefined])[0]
}

function reasonOf(result: SimulatedTransaction | undefined): string {
  if (result?.status !== 'reverted') return 'is not simulated'
  return result.reason.startsWith('reverted')
    ? result.reason.replace('reverted', 'reverts')
    : `reverts with ${result.reason}`
}
