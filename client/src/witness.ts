import { isNativeCoin } from './bridge-calls.ts'
import { encodeWord, isSameAddress } from './calls.ts'
import { type DryRun, dryRun, type NodeAccess, openNode } from './node.ts'
import {
  type JsonObject,
  type Preparation,
  readAddress,
  readAmount,
  readObject,
  readRewards,
  type Step,
} from './patterns.ts'
import { Refusal } from './refusal.ts'

/** Caller's own blockchain node, and the tolerance for differences. */
export type OwnNode = NodeAccess & {
  /** Maximum difference, in percent, between the shares or amounts in the response and the node's. The default is 1. */
  readonly tolerancePercent?: number | undefined
}

/** Response whose transactions `verifyPattern` already accepted, with the request's input and the transactions' effects. */
export type MatchedResponse = {
  readonly preparation: Preparation
  readonly input: unknown
  readonly answer: unknown
  readonly steps: readonly Step[]
}

/** Result of checking a response at the caller's own node, which confirmed it. */
export type Witnessed = {
  readonly chainId: number
  /** False if the node cannot simulate, or leaves out logs. Then `notes` list which checks were skipped. */
  readonly isSimulated: boolean
  readonly notes: readonly string[]
}

/** Checks a response at the caller's own node. Throws a Refusal if the node does not confirm it. */
export type Witness = (patterned: MatchedResponse) => Promise<Witnessed>

/** Selectors of a vault's view functions. */
const VIEWS = {
  asset: '38d52e0f',
  share: 'a8d5fd65',
  previewDeposit: 'ef8b30f7',
  previewWithdraw: '0a28a477',
  previewRedeem: '4cdad506',
  convertToAssets: '07a2d13a',
  convertToShares: 'c6e6f592',
  feeRates: '7688c584',
  pendingDepositRequest: '26c6f96c',
  pendingRedeemRequest: 'f5a23d8d',
  claimableCancelDepositRequest: 'aabb5922',
  claimableCancelRedeemRequest: 'b04a5e05',
} as const
type ViewName = keyof typeof VIEWS

/** Withdrawal functions whose argument is exactly the amount of assets paid. */
const EXACT_ASSET_CALLS: readonly string[] = ['withdraw', 'cooldownAssets']
/** Claim functions that return an amount of shares; the other claim functions return an amount of assets. */
const RETURNS_SHARES: readonly Step['call'][] = ['claimDeposit', 'withdraw']
/** Claim functions whose argument is an amount of shares. */
const TAKES_SHARES: readonly Step['call'][] = ['mint', 'redeem']

const BASIS_POINTS = 10_000n
/** Tolerated rounding error in smallest units: two conversions may each round by one unit. */
const ROUNDING_UNITS = 2n

/**
 * Creates a witness, which checks responses at the caller's own node. It simulates the transactions, and compares shares and amounts with
 * the vault's previews and the moved tokens. Throws a RangeError if the tolerance is not from 0 to below 100.
 */
export function createWitness({ tolerancePercent = 1, ...access }: OwnNode): Witness {
  const basisPoints = Math.round(tolerancePercent * 100)
  if (!(basisPoints >= 0 && basisPoints < 10_000)) {
    throw new RangeError('tolerancePercent must be at least 0 and below 100.')
  }
  return async (patterned) => {
    const context = buildContext(patterned, BigInt(basisPoints))
    const { chainId, user, transactions, approvals } = context
    const views = Object.entries(viewsOf(context)).map(([name, data]) => ({ name, to: context.vault, data }))
    const rpc = await openNode(access, chainId)
    // The node has not executed the approvals yet. A vault call that needs an approval would revert there, so it is not
    // tried. An approval for the bridge does not concern the vault's call.
    const isReady =
      approvals === 0 || (patterned.preparation !== 'deposit' && context.response['isCrossChain'] === true)
    const sight = await dryRun(rpc, user, { views, transactions, first: isReady ? approvals : -1 })
    const words = Object.fromEntries(views.map(({ name }, index) => [name, sight.views[index] ?? []]))
    const { notes } = compare(context, sight, words)
    return { chainId, isSimulated: sight.moved !== undefined, notes }
  }
}

type Context = ReturnType<typeof buildContext>

function buildContext({ preparation, input, answer, steps }: MatchedResponse, tolerance: bigint) {
  const [request, response] = [readObject(input), readObject(answer)]
  const approval = listOf(response, 'approval')
  const transactions = [...approval, ...listOf(response, 'operations')]
  const chainId = steps[0]?.chainId ?? Number(response['chainId'])
  return {
    ...{ preparation, request, response, steps, transactions, tolerance, chainId },
    approvals: approval.length,
    user: readAddress(request['userAddress']),
    /** Rewards belong to no vault, so for a claim of rewards `vault` is the contract that pays them. */
    vault: readAddress(preparation === 'rewards' ? steps[0]?.to : request['vaultAddress']),
    /** True if the transactions are on the vault's chain. The node of another chain does not know the vault. */
    isHere: chainId === Number(response['chainId']),
    isLagoon: response['protocol'] === 'lagoon',
    /** True if the vault's ERC-4626 preview functions report the amount that a withdrawal pays. */
    hasPreviews:
      response['protocol'] === 'cooldown' || (response['protocol'] !== 'lagoon' && response['isAsync'] === false),
    isAsync: response['isAsync'] === true,
  }
}

function listOf(response: JsonObject, name: string) {
  const list = response[name]
  return (Array.isArray(list) ? list : []).map((item: unknown) => {
    const { to, data, value } = readObject(item)
    const coin = readAmount(value)
    return { to: readAddress(to), data: String(data), ...(coin > 0n && { value: `0x${coin.toString(16)}` }) }
  })
}

/** Encodes the view calls whose results are compared with the response's amounts. */
function viewsOf({ preparation, request, response, isHere, user, transactions, approvals }: Context) {
  const view = (name: ViewName, ...args: readonly (string | bigint)[]) => ({
    [name]: `0x${VIEWS[name]}${args.map(encodeWord).join('')}`,
  })
  if (!isHere || preparation === 'rewards') return {}
  const amount = request['amount'] === undefined || request['amount'] === null ? 0n : readAmount(request['amount'])
  const shares = preparation === 'withdraw' ? readAmount(readObject(response['withdrawal'])['shares']) : 0n
  // `id` is the id of the request that the user cancels. It is the first argument of a cancellation with two or three
  // arguments.
  const data = transactions[approvals]?.data ?? ''
  const id = data.length === 2 + 8 + 2 * 64 || data.length === 2 + 8 + 3 * 64 ? BigInt(`0x${data.slice(10, 74)}`) : 0n
  return {
    ...view('asset'),
    ...view('share'),
    ...view('feeRates'),
    ...(preparation === 'deposit' && { ...view('previewDeposit', amount), ...view('convertToShares', amount) }),
    ...(preparation === 'withdraw' && {
      ...view('previewWithdraw', amount),
      ...view('previewRedeem', shares),
      ...view('convertToShares', amount),
      ...view('convertToAssets', shares),
    }),
    ...(preparation === 'cancel' && {
      ...view('pendingDepositRequest', id, user),
      ...view('pendingRedeemRequest', id, user),
      ...view('claimableCancelDepositRequest', id, user),
      ...view('claimableCancelRedeemRequest', id, user),
    }),
  }
}

/** Compares the amounts in the response with the node's results. Throws a Refusal if they differ. */
function compare(context: Context, sight: DryRun, words: Readonly<Record<string, readonly bigint[]>>) {
  const { preparation, chainId, vault, isHere, isLagoon, tolerance, steps, response, approvals } = context
  const { moved } = sight
  const notes: string[] = []
  const see = (name: ViewName) => words[name]?.[0]
  const tokenOf = (name: 'asset' | 'share') => {
    const word = see(name)
    return word === undefined || word === 0n || word >= 2n ** 160n ? undefined : `0x${encodeWord(word).slice(24)}`
  }
  // Lagoon versions without fees on deposits and withdrawals return only two rates. Then all fees count as 0.
  const rates = isLagoon && (words['feeRates']?.length ?? 0) >= 5 ? (words['feeRates'] ?? []) : []
  const allowed = new Map<string, bigint>()
  const movedOf = (token: string | undefined, way: 'sent' | 'received') =>
    moved && token !== undefined ? (moved.get(token.toLowerCase())?.[way] ?? 0n) : undefined
  const checks: Checks = {
    ...context,
    see,
    asset: isHere ? tokenOf('asset') : undefined,
    share: isHere ? (tokenOf('share') ?? vault) : undefined,
    rates: { entry: rates[2] ?? 0n, exit: rates[3] ?? 0n, haircut: rates[4] ?? 0n },
    returned: sight.returned[approvals]?.[0],
    isSimulated: moved !== undefined,
    sent: (token) => movedOf(token, 'sent'),
    received: (token) => movedOf(token, 'received'),
    allow: (token, amount) => void allowed.set(token?.toLowerCase() ?? '', amount),
    note: (text) => void notes.push(text),
    confirm(what, figure, values) {
      const knownValues = values.filter((value) => value !== undefined)
      if (knownValues.length === 0) throw new Refusal('unconfirmed', `Your node cannot confirm ${what} ${figure}.`)
      const other = knownValues.find((value) => !isNear(figure, value, tolerance))
      if (other === undefined) return
      throw new Refusal('wrong_amounts', `Your node shows ${other} as ${what}, the answer ${figure}.`)
    },
  }
  if (!moved) {
    const untried = steps.map((_, index) => index + 1).filter((_, index) => sight.returned[index] === undefined)
    const tried = untried.length > 0 ? ` It did not try: ${untried.join(', ')}.` : ''
    notes.push(
      `Your node cannot simulate with logs (eth_simulateV1), so there was no dry run of all transactions.${tried}`,
    )
  }
  COMPARISONS[preparation](checks)
  if (response['isCrossChain'] === true)
    notes.push(`Only chain ${chainId} is checked, not the arrival on the other chain.`)
  for (const [token, { sent, received }] of moved ?? []) {
    if (sent - received <= (allowed.get(token) ?? 0n)) continue
    const what = `${sent - received} of the token ${token}`
    throw new Refusal('wrong_amounts', `At your node, ${what} would leave the user, which was not requested.`)
  }
  return { notes }
}

type Token = string | undefined
type Amount = bigint | undefined

type Checks = Context & {
  /** Returns the first word that a view call returned; undefined if it reverted. */
  readonly see: (name: ViewName) => Amount
  readonly asset: Token
  readonly share: Token
  /** Fees of a Lagoon vault in basis points; 0 for other vaults. */
  readonly rates: Readonly<Record<'entry' | 'exit' | 'haircut', bigint>>
  readonly returned: Amount
  readonly isSimulated: boolean
  /** Returns the amount of a token that left the user in the simulation; undefined if nothing was simulated. */
  readonly sent: (token: Token) => Amount
  readonly received: (token: Token) => Amount
  /** Sets the maximum amount of a token that may leave the user's account in the simulation. */
  readonly allow: (token: Token, amount: bigint) => void
  readonly note: (text: string) => void
  /**
   * Throws a Refusal if `figure`, which the response states, differs from one of these values. Undefined values are
   * skipped. Also throws a Refusal if all values are undefined.
   */
  readonly confirm: (what: string, figure: bigint, values: readonly Amount[]) => void
}

const COMPARISONS: Readonly<Record<Preparation, (checks: Checks) => void>> = {
  deposit({ request, response, steps, isHere, isLagoon, isAsync, ...node }) {
    const { see, asset, share, sent, received, returned, rates, isSimulated, allow, note, confirm } = node
    const amount = readAmount(request['amount'])
    const token = isHere ? asset : readAddress(request['srcToken'])
    requireApprovalOf(token, steps)
    allow(token, amount)
    // Transfers of the native coin emit no event. So the coin's amount is not compared here; `verifyPattern` already limits it.
    if (isSimulated && !(token !== undefined && isNativeCoin(token)))
      confirm('the amount of the deposit', amount, [sent(token)])
    if (!isHere) return note(`The deposit on chain ${response['chainId']} is not checked.`)
    const { assets, shares: named } = readObject(response['deposit'])
    confirm('the assets that the vault takes', readAmount(assets), [amount])
    const atPrice = isLagoon ? subtractFee(see('convertToShares'), rates.entry) : see('convertToShares')
    const expected = isAsync || isLagoon ? atPrice : see('previewDeposit')
    const shares = isAsync ? undefined : (received(share) ?? returned)
    if (shares !== undefined) confirm('the shares of the deposit', shares, [expected])
    if (named === null) note('The response names no shares of the deposit, so none are checked.')
    else confirm('the shares that the response names', readAmount(named), [shares ?? expected])
  },

  withdraw({ request, response, steps, hasPreviews, isLagoon, isAsync, tolerance, ...node }) {
    const { see, asset, share, sent, received, rates, isSimulated, allow, note, confirm } = node
    requireApprovalOf(response['isCrossChain'] === true ? asset : share, steps)
    const withdrawal = readObject(response['withdrawal'])
    const shares = readAmount(withdrawal['shares'])
    const claimed = readAmount(withdrawal['claimedAssets'])
    const assets = withdrawal['assets'] === null ? undefined : readAmount(withdrawal['assets'])
    const pays = steps.filter(({ call }) => call !== 'transfer to another chain').at(-1)
    const haircut = pays?.call === 'syncRedeem' ? rates.haircut : 0n
    const exit = isLagoon ? rates.exit : 0n
    if (request['amount'] !== undefined && request['amount'] !== null) {
      const needed = hasPreviews ? see('previewWithdraw') : addFee(addFee(see('convertToShares'), haircut), exit)
      confirm('the shares that the amount takes', shares, [needed])
    }
    allow(share, shares + (shares * tolerance) / BASIS_POINTS + ROUNDING_UNITS)
    if (isSimulated) confirm('the shares of the withdrawal', shares, [sent(share)])
    if (assets === undefined) note('The response names no amount of assets, so none is checked.')
    else {
      const worth = hasPreviews ? see('previewRedeem') : subtractFee(subtractFee(see('convertToAssets'), exit), haircut)
      confirm('the assets of the withdrawal', assets, [
        pays && EXACT_ASSET_CALLS.includes(pays.call) ? pays.amount : worth,
      ])
    }
    if (!isSimulated) {
      if (claimed > 0n) note('The assets of earlier withdrawals are not checked.')
      requireCover(response, assets ?? 0n)
    } else if (isAsync || assets !== undefined) {
      confirm('the assets that the vault pays now', claimed + (isAsync ? 0n : (assets ?? 0n)), [received(asset)])
    }
  },

  claim({ response, steps, returned, isSimulated, asset, share, received, request, confirm }) {
    // No call of a claim or cancellation takes tokens, so an approval can only be for the bridge.
    requireApprovalOf(asset, steps)
    const claimable = readObject(response['claimable'])
    const [claim] = steps.filter(({ call }) => call !== 'approve')
    const paid = request['kind'] === 'withdrawal' ? 'assets' : 'shares'
    for (const unit of ['assets', 'shares'] as const) {
      // The cooldown already burned the shares, so the simulation cannot confirm them.
      if (claim?.call === 'unstake' && unit === 'shares') continue
      const figure = readAmount(claimable[unit])
      const isReturned = claim !== undefined && RETURNS_SHARES.includes(claim.call) === (unit === 'shares')
      const isTaken = claim !== undefined && TAKES_SHARES.includes(claim.call) === (unit === 'shares')
      const token = unit === 'assets' ? asset : share
      confirm(`the claimed ${unit}`, figure, [
        paid === unit ? received(token) : undefined,
        isReturned ? returned : undefined,
        isTaken && claim.call !== 'unstake' ? claim.amount : undefined,
      ])
    }
    if (!isSimulated) requireCover(response, paid === 'assets' ? readAmount(claimable['assets']) : 0n)
  },

  cancel({ request, response, steps, isAsync, isSimulated, asset, share, received, see, confirm }) {
    const isOfShares = request['kind'] === 'withdrawal'
    const figure = readAmount(readObject(response['cancelled'])[isOfShares ? 'shares' : 'assets'])
    const isGranted = steps.some(({ call }) => call.startsWith('claim'))
    const pending = isOfShares ? see('pendingRedeemRequest') : see('pendingDepositRequest')
    const granted = isOfShares ? see('claimableCancelRedeemRequest') : see('claimableCancelDepositRequest')
    const returned = isSimulated && !isAsync ? received(isOfShares ? share : asset) : undefined
    confirm('the cancelled amount', figure, [returned ?? (isGranted ? granted : pending)])
  },

  rewards({ response, isSimulated, received, note, confirm }) {
    if (!isSimulated) return note('The amounts of the rewards are not checked.')
    for (const { token, amount } of readRewards(response)) {
      confirm(`the reward in the token ${token}`, amount, [received(token)])
    }
  },
}

/** Throws a Refusal if a step approves another token than the one that the vault or the bridge takes. */
function requireApprovalOf(token: Token, steps: readonly Step[]): void {
  const isOther = steps.some(({ call, to }) => call === 'approve' && (token === undefined || !isSameAddress(to, token)))
  if (isOther) throw new Refusal('wrong_amounts', 'The approval is of another token than the transactions take.')
}

/** Throws a Refusal if the amount sent to another chain exceeds the vault's payment that the node confirms. */
function requireCover(response: JsonObject, paid: bigint): void {
  if (response['isCrossChain'] !== true) return
  const sent = readAmount(readObject(response['quote'])['inputAmount'])
  if (sent <= paid) return
  throw new Refusal('unconfirmed', `Your node cannot confirm that the vault pays the ${sent} that go to another chain.`)
}

function isNear(figure: bigint, value: bigint, tolerance: bigint): boolean {
  const difference = figure > value ? figure - value : value - figure
  return difference * BASIS_POINTS <= value * tolerance + ROUNDING_UNITS * BASIS_POINTS
}

function subtractFee(amount: Amount, rate: bigint): Amount {
  return amount === undefined ? undefined : amount - (amount * rate) / BASIS_POINTS
}

/** Returns the amount from which `amount` is left after a fee. `rate` is in basis points. */
function addFee(amount: Amount, rate: bigint): Amount {
  return amount === undefined || rate >= BASIS_POINTS ? undefined : (amount * BASIS_POINTS) / (BASIS_POINTS - rate)
}
