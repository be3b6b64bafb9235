import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { max, min } from '../bigint.ts'
import { amountWord, probeBalances, probedSlot } from '../chain/balance-slots.ts'
import { type Call, call, decodeAnswers } from '../chain/call.ts'
import { encodeApprovals, erc20Abi } from '../chain/erc20.ts'
import { type ChainReader, joinReadPlans, readPlan } from '../chain/reader.ts'
import {
  type MadeUpStorage,
  madeUpSimulationRequest,
  parseSimulatedBlocks,
  type SimulatedCall,
} from '../chain/simulation.ts'
import type { Transaction } from '../chain/transaction.ts'
import { AppError } from '../errors.ts'
import { vaultAbi } from './abi.ts'
import type { DepositOperation } from './calldata.ts'
import { depositNamed } from './operations.ts'
import { getProtocol } from './protocols.ts'
import { REVERT_ERRORS } from './revert-errors.ts'
import type { RoundTrip } from './terms.ts'
import { isAsync, type VaultOnChain } from './vault-on-chain.ts'

/** The result of a deposit and a withdrawal, simulated one after the other with made-up balances. */
export type SimulatedTrip = {
  /** The block whose state the simulation starts from. */
  readonly block: bigint
  /** The assets of the deposit, in their smallest unit. */
  readonly amount: bigint
  /** Absent where nothing was measured. */
  readonly measured?: MeasuredTrip
  /** Why nothing was measured. */
  readonly untried?: string
  /** Contradictions between what the vault reports and does, each a clause about "it". */
  readonly mixedUp: readonly string[]
}

/** The terms, and the functions that took the deposit and paid it. */
type MeasuredTrip = {
  readonly roundTrip: RoundTrip
  readonly deposit: string
  /** Null if no function pays; `noExit` says how the vault refuses. */
  readonly withdrawal: string | null
  readonly noExit: string | undefined
}

const ownAbi = parseAbi([
  'function previewDeposit(uint256 assets) view returns (uint256 shares)',
  'function syncRedeem(uint256 shares, address receiver, uint256 minimumAssets)',
  'function requestRedeem(uint256 shares, address controller, address owner)',
  'function cooldownShares(uint256 shares)',
])
const tripAbi = [...vaultAbi, ...ownAbi] as const

/** The ways out in the order of their trial: those that pay at once come first. */
const EXITS = [
  { name: 'redeem', exit: 'instant' },
  { name: 'syncRedeem', exit: 'instant' },
  { name: 'requestRedeem', exit: 'request' },
  { name: 'cooldownShares', exit: 'cooldown' },
] as const
type ExitName = (typeof EXITS)[number]['name']

/** The deposit in whole tokens, and its least units: with fewer, two decimals of a percent do not show. */
const WHOLE_TOKENS = 100n
const MIN_UNITS = 1_000_000n
const BASIS_POINTS = 10_000n

/**
 * Simulates a deposit of `account`, and a withdrawal in the next block, from the latest block on. The account is a new one. Where
 * a deposit gives no shares at once, the account gets made-up shares. Throws `upstream_*`.
 */
export async function simulateRoundTrip(
  reader: ChainReader,
  vault: VaultOnChain,
  account: Address,
): Promise<SimulatedTrip> {
  const { address, asset, assetSymbol, shareToken } = vault
  const { block, amount, worth, choice } = await chooseDeposit(reader, vault, account)
  const untried = (why: string, mixedUp: readonly string[] = []) => ({ block, amount, untried: why, mixedUp })
  if ('refusal' in choice) return untried(`the vault takes no deposit (${choice.refusal})`)
  const { operation } = choice

  /** What the transactions of two blocks did; undefined where the node does not simulate them. */
  const simulate = async (storage: MadeUpStorage, ...blocks: (readonly Transaction[])[]) => {
    const [outcome] = await reader.request([madeUpSimulationRequest(account, blocks, { at: block, storage })])
    const lengths = blocks.map(({ length }) => length)
    return parseSimulatedBlocks(outcome, lengths, REVERT_ERRORS)?.flat()
  }
  const assets = call(asset, erc20Abi, 'balanceOf', [account])
  const shares = call(shareToken, erc20Abi, 'balanceOf', [account])
  const balances = [view(assets), view(shares)]

  const probes = await simulate(probeBalances([asset, shareToken], account), balances)
  if (!probes) return untried('the nodes do not simulate with made-up balances')
  const assetSlot = probedSlot(account, decoded(assets, probes[0]))
  const shareSlot = probedSlot(account, decoded(shares, probes[1]))
  if (!assetSlot) return untried(`the storage slot of balances of ${assetSymbol} is not known`)
  const madeUpAssets = storageOf(asset, assetSlot, amount)

  const deposit = [
    ...encodeApprovals({ token: asset, spender: address, amount }, 'exact'),
    { to: address, data: operation.encode({ vault, account, amount }), value: 0n },
  ]
  const previewDeposit = call(address, tripAbi, 'previewDeposit', [amount])
  const entry = (await simulate(madeUpAssets, [view(previewDeposit), ...deposit, ...balances])) ?? []
  const [preview, approval, taken, assetsLeft, sharesGot] = entry
  if (approval?.status !== 'success') return untried(`the approval of ${assetSymbol} ${reasonOf(approval)}`)
  if (taken?.status !== 'success') return untried(`${operation.name} ${reasonOf(taken)}`)
  const got = decoded(shares, sharesGot) ?? 0n
  const left = decoded(assets, assetsLeft) ?? 0n
  const entryFindings = findInDeposit(operation, { amount, left, got, preview: decoded(previewDeposit, preview) })

  const held = got > 0n ? got : worth
  if (!held) return untried('the vault does not report what assets are worth in shares', entryFindings)
  if (got === 0n && !shareSlot) return untried('the storage slot of balances of shares is not known', entryFindings)
  const madeUpShares = got === 0n && shareSlot ? storageOf(shareToken, shareSlot, held) : {}
  const value = call(address, tripAbi, 'convertToAssets', [held])
  const previewRedeem = call(address, tripAbi, 'previewRedeem', [held])
  const exits = EXITS.map(({ name }) => ({ to: address, data: encodeExit(name, held, account), value: 0n }))
  const results = await simulate(
    { ...madeUpAssets, ...madeUpShares },
    [view(value), ...deposit],
    [
      ...[
        view(value),
        view(previewRedeem),
        ...encodeApprovals({ token: shareToken, spender: address, amount: held }, 'exact'),
      ],
      ...exits.flatMap((exit) => [exit, ...balances]),
    ],
  )
  const [valueBefore, , , valueAfter, redemption, , ...tries] = results ?? []
  const [way, refusals] = findExit(
    EXITS.map(({ name, exit }, index) => {
      const [result, assetsThen, sharesThen] = tries.slice(3 * index)
      return { name, exit, result, assets: decoded(assets, assetsThen), shares: decoded(shares, sharesThen) }
    }),
    { assets: left, shares: held },
  )
  const entryFee = got > 0n ? feeOf(amount - left, decoded(value, valueBefore)) : null
  const exitFee = way?.exit === 'instant' ? feeOf(decoded(value, valueAfter), way.paid) : null
  const measured = {
    roundTrip: {
      entry: operation.isAsync && got === 0n ? ('request' as const) : ('instant' as const),
      exit: way?.exit ?? ('none' as const),
      entryFee: percent(entryFee),
      exitFee: percent(exitFee),
    },
    deposit: operation.name,
    withdrawal: way ? way.name : null,
    noExit: way ? undefined : refusals[isAsync(vault, 'withdrawal') ? 'requestRedeem' : 'redeem'],
  }
  const exitFindings = way ? findInWithdrawal(vault, way, { held, preview: decoded(previewRedeem, redemption) }) : []
  return { block, amount, measured, mixedUp: [...entryFindings, ...exitFindings, ...findInFees(entryFee, exitFee)] }
}

/** The operation that takes a deposit now, its amount and what that is worth in shares; or why the vault takes none. */
async function chooseDeposit(reader: ChainReader, vault: VaultOnChain, account: Address) {
  const { address } = vault
  const most = max(WHOLE_TOKENS * 10n ** BigInt(vault.assetDecimals), MIN_UNITS)
  const calls = { worth: call(address, tripAbi, 'convertToShares', [most]) }
  const terms = getProtocol(vault).depositTerms(vault, account)
  const plan = joinReadPlans(
    // Its parsing throws what is no failure here.
    { ...terms, parse: (read: Parameters<typeof terms.parse>[0]) => () => terms.parse(read) },
    readPlan({ address, slots: {}, calls }, ({ answers }) => answers.worth),
  )
  const {
    value: [parse, worth],
    block: { number: block },
  } = await reader.readOne(plan)
  try {
    const { room, choose } = parse()
    const limit = room()
    const amount = limit !== undefined && limit > 0n ? min(limit, most) : most
    return { block, amount, worth, choice: { operation: depositNamed(vault, choose(amount)) } }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { block, amount: most, worth, choice: { refusal: error.message } }
  }
}

function findInDeposit(
  { name, isAsync }: DepositOperation,
  sums: {
    readonly amount: bigint
    readonly left: bigint
    readonly got: bigint
    readonly preview: bigint | undefined
  },
): string[] {
  const { amount, left, got, preview } = sums
  return [
    ...(left > 0n ? [`it takes ${amount - left} of a deposit of ${amount} units by ${name}`] : []),
    ...(isAsync && got > 0n ? [`it says that deposits are requests, but ${name} gives shares at once`] : []),
    ...(!isAsync && got === 0n ? [`it takes a deposit by ${name}, but no shares arrive`] : []),
    ...(!isAsync && got > 0n && differ(preview, got)
      ? [`it previews ${preview} units of shares for a deposit, but ${got} arrive`]
      : []),
  ]
}

/** A try of one way out, and the account's balances after it. */
type Try = {
  readonly name: ExitName
  readonly exit: 'instant' | 'request' | 'cooldown'
  readonly result: SimulatedCall | undefined
  readonly assets: bigint | undefined
  readonly shares: bigint | undefined
}
/** The way out, with the assets that it paid and the shares that it took. */
type Way = Pick<Try, 'name' | 'exit'> & { readonly paid: bigint; readonly taken: bigint }

/** The first way out that pays, or takes the shares to pay later; undefined without one. Also why the tries before it failed. */
function findExit(
  tries: readonly Try[],
  start: { readonly assets: bigint; readonly shares: bigint },
): [Way | undefined, Partial<Record<ExitName, string>>] {
  const refusals: Partial<Record<ExitName, string>> = {}
  let { assets, shares } = start
  for (const { name, exit, result, ...after } of tries) {
    const [paid, taken] = [(after.assets ?? assets) - assets, shares - (after.shares ?? shares)]
    if (result?.status === 'success' && (exit === 'instant' ? paid : taken) > 0n) {
      return [{ name, exit, paid, taken }, refusals]
    }
    refusals[name] =
      result?.status === 'success'
        ? `${name} takes ${taken} units of shares and pays nothing`
        : `${name} ${reasonOf(result)}`
    assets += paid
    shares -= taken
  }
  return [undefined, refusals]
}

function findInWithdrawal(
  vault: VaultOnChain,
  { name, exit, paid, taken }: Way,
  { held, preview }: { readonly held: bigint; readonly preview: bigint | undefined },
): string[] {
  const isRequested = isAsync(vault, 'withdrawal')
  return [
    ...(vault.protocol === 'erc7540' && isRequested && exit !== 'request'
      ? [`it says by ERC-165 that redemptions are requests, but ${name} is the way out`]
      : []),
    ...(!isRequested && exit !== 'instant'
      ? [`it does not say that withdrawals wait, but redeem reverts and ${name} is the way out`]
      : []),
    ...(taken === held ? [] : [`it takes ${taken} of ${held} units of shares by ${name}`]),
    ...(name === 'redeem' && differ(preview, paid)
      ? [`it previews ${preview} units of assets for a withdrawal, but pays ${paid}`]
      : []),
  ]
}

/** Shares that are worth more than was paid for them, or paid with more than they are worth. */
function findInFees(entryFee: bigint | null, exitFee: bigint | null): string[] {
  return [
    ...(entryFee !== null && entryFee < 0n ? ['it values shares at more than was paid for them'] : []),
    ...(exitFee !== null && exitFee < 0n ? ['it pays more for shares than it values them at'] : []),
  ]
}

/** Whether two amounts differ by more than one in ten thousand and rounding; false where one is not known. */
function differ(preview: bigint | undefined, actual: bigint): boolean {
  if (preview === undefined) return false
  const difference = max(preview, actual) - min(preview, actual)
  return difference > 2n && difference * BASIS_POINTS > actual
}

/** The part of `before` that is missing from `after`, in basis points, rounded; null where an amount is unknown or too small. */
function feeOf(before: bigint | undefined, after: bigint | undefined): bigint | null {
  if (before === undefined || after === undefined || before < BASIS_POINTS) return null
  const doubled = 2n * BASIS_POINTS * (before - after)
  return (doubled + (doubled < 0n ? -before : before)) / (2n * before)
}

function percent(basisPoints: bigint | null): string | null {
  if (basisPoints === null) return null
  const digits = String(basisPoints < 0n ? -basisPoints : basisPoints).padStart(3, '0')
  return `${basisPoints < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

function storageOf(token: Address, slot: Hex, amount: bigint): MadeUpStorage {
  return { [token]: { stateDiff: { [slot]: amountWord(amount) } } }
}

function view({ to, data }: Call<unknown>): Transaction {
  return { to, data, value: 0n }
}

function decoded<T>(call: Call<T>, result: SimulatedCall | undefined): T | undefined {
  return decodeAnswers([call], [result?.status === 'success' ? result.returnData : undefined])[0]
}

function reasonOf(result: SimulatedCall | undefined): string {
  if (result?.status !== 'reverted') return 'is not simulated'
  return result.reason.startsWith('reverted')
    ? result.reason.replace('reverted', 'reverts')
    : `reverts with ${result.reason}`
}

function encodeExit(name: ExitName, shares: bigint, account: Address): Hex {
  switch (name) {
    case 'redeem':
      return encodeFunctionData({ abi: vaultAbi, functionName: name, args: [shares, account, account] })
    case 'requestRedeem':
      return encodeFunctionData({ abi: ownAbi, functionName: name, args: [shares, account, account] })
    case 'syncRedeem':
      return encodeFunctionData({ abi: ownAbi, functionName: name, args: [shares, account, 0n] })
    case 'cooldownShares':
      return encodeFunctionData({ abi: ownAbi, functionName: name, args: [shares] })
  }
}
