import { isNativeCoin, poolAddress, toBridgedToken, verifyTransfer } from './bridge-calls.ts'
import { type DecodedCall, decodeCall, type FunctionName, isSameAddress, type Transaction } from './calls.ts'
import { Refusal, refuseUnless } from './refusal.ts'
import { describeRewardsClaim, verifyRewardsClaim } from './rewards-calls.ts'

/** Facts about a vault that a caller knows from a source other than the response. */
export type PinnedVault = {
  readonly chainId: number
  readonly address: string
  readonly protocol: 'cooldown' | 'erc4626' | 'erc7540' | 'lagoon'
  /** Address of the token that the vault takes and pays. */
  readonly asset: string
  /** Address of the share token, if that is another contract than the vault. */
  readonly shareToken?: string | undefined
}

/** Facts that a caller knows from a source other than the response. */
export type TrustedFacts = {
  /** Vaults that may be used. Without this list the verifier believes the response about a vault's protocol, asset and chain. */
  readonly vaults?: readonly PinnedVault[] | undefined
  /**
   * Maximum amount that may go to another chain, in the smallest unit of the vault's asset. Required if neither the request nor the vault's
   * calls limit the payment: withdrawals by `shares` or `max`, and claims that redeem shares.
   */
  readonly mostSent?: bigint | undefined
}

/** Effect of one transaction, and the contract that it calls. */
export type Step = {
  readonly chainId: number
  readonly to: string
  readonly call: FunctionName | 'transfer to another chain' | 'claim of rewards'
  /** Amount of tokens that the transaction moves or approves, in the smallest unit; 0 if it states no amount. */
  readonly amount: bigint
  /** Effect of the transaction, in words for the user. */
  readonly does: string
}

/** Kind of operation whose response contains transactions. */
export type Preparation = OfVault | 'rewards'
type OfVault = 'deposit' | 'withdraw' | 'claim' | 'cancel'

type Protocol = PinnedVault['protocol']
type Kind = 'deposit' | 'withdrawal'

const DEPOSITS: Readonly<Record<Protocol, readonly FunctionName[]>> = {
  cooldown: ['deposit'],
  erc4626: ['deposit'],
  erc7540: ['requestDeposit', 'deposit'],
  lagoon: ['requestDeposit', 'syncDeposit'],
}

/**
 * Withdrawal calls of each protocol. `pays` are calls that pay the user. `claims` are calls that may precede them to claim settled amounts.
 */
const WITHDRAWALS: Readonly<
  Record<Protocol, { readonly claims: readonly FunctionName[]; readonly pays: readonly FunctionName[] }>
> = {
  cooldown: { claims: [], pays: ['cooldownAssets', 'cooldownShares', 'withdraw', 'redeem'] },
  erc4626: { claims: [], pays: ['withdraw', 'redeem'] },
  erc7540: { claims: ['mint'], pays: ['requestRedeem', 'withdraw', 'redeem'] },
  lagoon: {
    claims: ['redeem', 'claimDeposit'],
    pays: ['syncRedeem', 'requestRedeem', 'claimSharesAndRequestRedeem', 'redeem', 'withdraw'],
  },
}

const CLAIMS: Readonly<Record<Protocol, Readonly<Record<Kind, readonly FunctionName[]>>>> = {
  cooldown: { deposit: [], withdrawal: ['unstake'] },
  erc4626: { deposit: [], withdrawal: [] },
  erc7540: { deposit: ['claimDeposit', 'mint'], withdrawal: ['redeem', 'withdraw'] },
  lagoon: { deposit: ['claimDeposit'], withdrawal: ['redeem', 'withdraw'] },
}

const CANCELS: Readonly<Record<Protocol, Readonly<Record<Kind, readonly FunctionName[]>>>> = {
  cooldown: { deposit: [], withdrawal: [] },
  erc4626: { deposit: [], withdrawal: [] },
  erc7540: {
    deposit: ['cancelDepositRequest', 'claimCancelDepositRequest'],
    withdrawal: ['cancelRedeemRequest', 'claimCancelRedeemRequest'],
  },
  lagoon: { deposit: ['cancelRequestDeposit'], withdrawal: ['cancelRequestRedeem'] },
}

/** Calls that only make a request, which the vault settles later. */
const SETTLING_CALLS: readonly FunctionName[] = [
  'requestDeposit',
  'requestRedeem',
  'claimSharesAndRequestRedeem',
  'cooldownAssets',
  'cooldownShares',
  'cancelDepositRequest',
  'cancelRedeemRequest',
]
/** Functions whose amount is in assets. The amounts of all other functions are in shares. */
const ASSET_CALLS: readonly FunctionName[] = ['deposit', 'requestDeposit', 'syncDeposit', 'claimDeposit', 'withdraw']

/** Calls that claim a settled deposit before a withdrawal. They give the user shares but pay no assets. */
const SHARE_CLAIMS: readonly FunctionName[] = ['claimDeposit', 'mint']
/** Maximum difference between an instant withdrawal's guaranteed minimum and the amount in the response, in percent. */
const MAX_SLIPPAGE_PERCENT = 1n

/** Parsed JSON object whose fields have not been checked. */
export type JsonObject = Readonly<Record<string, unknown>>

type Context = {
  readonly input: JsonObject
  readonly answer: JsonObject
  readonly user: string
  readonly vault: string
  readonly protocol: Protocol
  readonly chainId: number
  readonly sentOn: number
  /** Address of the vault's asset. `asset` and `shareToken` are undefined if the caller gave no list of vaults. */
  readonly asset: string | undefined
  readonly shareToken: string | undefined
  readonly approval: readonly Transaction[]
  readonly operations: readonly Transaction[]
  readonly mostSent: bigint | undefined
}

/**
 * Verifies that a response's transactions match exactly the one known pattern for the request. Returns the effect of each transaction.
 * Throws a Refusal on any difference.
 */
export function verifyPattern(preparation: Preparation, input: unknown, answer: unknown, facts: TrustedFacts): Step[] {
  if (preparation === 'rewards') return verifyRewards(readObject(input), readObject(answer))
  const context = buildContext(preparation, readObject(input), readObject(answer), facts)
  verifyCalls(context)
  return PREPARATIONS[preparation](context)
}

const PREPARATIONS: Readonly<Record<OfVault, (context: Context) => Step[]>> = {
  deposit(context) {
    const { chainId, sentOn } = context
    return sentOn === chainId ? verifyLocalDeposit(context) : verifyRemoteDeposit(context, sentOn)
  },
  withdraw: (context) => verifyPayments(context, verifyWithdrawal),
  claim: (context) => verifyPayments(context, verifyClaim),
  cancel(context) {
    const { operations, user, protocol, input, answer } = context
    refuseUnless(context.approval.length === 0 && operations.length === 1, 'a cancellation is one transaction')
    const decodedCalls = operations.map((operation) =>
      decodeCall(operation, CANCELS[protocol][kindOf(input)], ownerArguments(user)),
    )
    verifyTargets(context, operations)
    refuseUnless(answer['isCrossChain'] === false, 'a cancellation stays on its chain')
    refuseUnless(
      answer['isAsync'] === decodedCalls.some(({ name }) => SETTLING_CALLS.includes(name)),
      'isAsync does not fit the cancellation',
    )
    return decodedCalls.map((call) => step(context, call))
  },
}

function verifyLocalDeposit(context: Context): Step[] {
  const { input, answer, user, vault, protocol, operations } = context
  const amount = readAmount(input['amount'])
  const srcToken = input['srcToken'] ?? undefined
  const { asset = srcToken } = context
  refuseUnless(
    srcToken === undefined || isSameAddress(readAddress(srcToken), readAddress(asset)),
    'the token is not that of the vault',
  )
  const approvals = verifyApprovals(context, { token: asset, spender: vault, amount, on: context.chainId })
  const [operation, ...more] = operations
  refuseUnless(operation !== undefined && more.length === 0, 'a deposit is one operation')
  const deposit = decodeCall(operation, DEPOSITS[protocol], ownerArguments(user))
  refuseUnless(deposit.amount === amount, 'the deposit is of another amount')
  refuseUnless(answer['isCrossChain'] === false, 'isCrossChain does not fit a deposit on one chain')
  refuseUnless(answer['isAsync'] === SETTLING_CALLS.includes(deposit.name), 'isAsync does not fit the deposit')
  verifyTargets(context, operations)
  return [...approvals, step(context, deposit)]
}

function verifyRemoteDeposit(context: Context, fromChain: number): Step[] {
  const { input, answer, user, vault, protocol, chainId, asset, operations } = context
  const amount = readAmount(input['amount'])
  const paid = readAddress(input['srcToken'])
  const token = toBridgedToken(fromChain, paid)
  refuseUnless(!isNativeCoin(paid) || context.approval.length === 0, 'a coin needs no approval')
  const approvals = verifyApprovals(context, { token, spender: poolAddress(fromChain), amount, on: fromChain })
  const [operation, ...more] = operations
  refuseUnless(operation !== undefined && more.length === 0, 'a deposit from another chain is one operation')
  const transfer = { user, fromChain, toChain: chainId, token, arrives: asset, amount, ...readQuote(answer, amount) }
  const name = verifyTransfer(operation, { ...transfer, into: { vault, functions: DEPOSITS[protocol] } })
  refuseUnless(answer['isCrossChain'] === true, 'isCrossChain does not fit a deposit from another chain')
  refuseUnless(
    answer['isAsync'] === (name !== undefined && SETTLING_CALLS.includes(name)),
    'isAsync does not fit the deposit',
  )
  const what = isNativeCoin(paid) ? `the coin of chain ${fromChain}` : `the token ${token}`
  const does = `sends ${amount} of ${what} to chain ${chainId}, where at least ${transfer.outputAmount} go into the vault ${vault} for ${user}`
  return [...approvals, { chainId: fromChain, to: operation.to, call: 'transfer to another chain', amount, does }]
}

function verifyPayments(
  context: Context,
  verify: (context: Context, calls: readonly Transaction[]) => DecodedCall[],
): Step[] {
  const { input, answer, user, chainId, operations } = context
  const toChain = Number(input['dstChainId'] ?? chainId)
  if (toChain === chainId) {
    const decodedCalls = verify(context, operations)
    verifyTargets(context, operations)
    refuseUnless(answer['isCrossChain'] === false, 'isCrossChain does not fit a payment on one chain')
    return [...verifyShareApprovals(context, decodedCalls), ...decodedCalls.map((call) => step(context, call))]
  }
  const last = operations.at(-1)
  const before = operations.slice(0, -1)
  refuseUnless(last !== undefined, 'there is no transfer')
  const decodedCalls = verify(context, before)
  verifyTargets(context, before)
  refuseUnless(answer['isCrossChain'] === true, 'isCrossChain does not fit a payment to another chain')
  refuseUnless(
    !decodedCalls.some(({ name }) => SETTLING_CALLS.includes(name)),
    'the vault would pay later than the transfer needs it',
  )
  const quote = readObject(answer['quote'])
  const amount = readAmount(quote['inputAmount'])
  const approved = context.approval.at(-1)?.to
  const token = context.asset ?? approved ?? `0x${last.data.slice(8 + 64 * 2 + 24, 8 + 64 * 3)}`
  const arrives = readAddress(input['dstToken'])
  const approvals = verifyApprovals(context, { token, spender: poolAddress(chainId), amount, on: chainId })
  const transfer = { user, fromChain: chainId, toChain, token, arrives, amount, ...readQuote(answer, amount) }
  verifyTransfer(last, transfer)
  const requestedAmount = (input['amount'] ?? undefined) === undefined ? undefined : readAmount(input['amount'])
  const bounds = [requestedAmount, readPaid(decodedCalls), context.mostSent].filter((bound) => bound !== undefined)
  if (bounds.length === 0) {
    const what = `${amount} of the token ${token} to chain ${toChain}, and nothing proves that the vault pays so much`
    throw new Refusal('unbounded', `It would send ${what}: set mostSent to the maximum that may go.`)
  }
  refuseUnless(
    bounds.every((bound) => amount <= bound),
    `${amount} would go to the other chain, which is more than was asked for, than the vault pays, or than may go`,
  )
  const does = `sends ${amount} of the token ${token} to ${user} on chain ${toChain}, where at least ${transfer.outputAmount} arrive`
  return [
    ...approvals,
    ...decodedCalls.map((call) => step(context, call)),
    { chainId, to: last.to, call: 'transfer to another chain', amount, does },
  ]
}

function verifyRewards(input: JsonObject, answer: JsonObject): Step[] {
  const user = readAddress(input['userAddress'])
  const chainId = Number(input['chainId'])
  const isRight = answer['chainId'] === chainId && answer['protocol'] === 'merkl' && answer['isCrossChain'] === false
  refuseUnless(isRight, 'it is of another chain, or not of rewards')
  const approval = readTransactions(answer['approval'], chainId, 0n)
  const operations = readTransactions(answer['operations'], chainId, 0n)
  const [operation] = operations
  refuseUnless(
    operation !== undefined && operations.length === 1 && approval.length === 0,
    'a claim is one transaction',
  )
  verifyCalls({ answer, user, sentOn: chainId, approval, operations })
  const rewards = readRewards(answer)
  verifyRewardsClaim(operation, user, rewards)
  const requestedTokens = input['tokens'] ?? undefined
  const isRequested = ({ token }: { readonly token: string }) =>
    requestedTokens === undefined ||
    (Array.isArray(requestedTokens) && requestedTokens.some((one) => isSameAddress(readAddress(one), token)))
  refuseUnless(rewards.every(isRequested), 'a token would be claimed that was not requested')
  const does = describeRewardsClaim(user, rewards)
  return [{ chainId, to: operation.to, call: 'claim of rewards', amount: 0n, does }]
}

/** Reads the rewards that a claim pays, in each token's smallest unit. Throws a Refusal if the response lacks them. */
export function readRewards(answer: JsonObject): { readonly token: string; readonly amount: bigint }[] {
  const { rewards } = answer
  refuseUnless(Array.isArray(rewards), 'there is no list of rewards')
  return rewards.map((item) => {
    const { token, amount } = readObject(item)
    return { token: readAddress(token), amount: readAmount(amount) }
  })
}

/**
 * Returns the guaranteed payment of all calls, in the asset's smallest unit: a call that would pay less reverts. Undefined if the vault
 * decides one of the amounts.
 */
function readPaid(decodedCalls: readonly DecodedCall[]): bigint | undefined {
  const parts = decodedCalls.map(({ name, amount, minimum }) => {
    if (name === 'withdraw') return amount
    if (name === 'syncRedeem') return minimum
    return SHARE_CLAIMS.includes(name) ? 0n : undefined
  })
  return parts.reduce((sum, part) => (sum === undefined || part === undefined ? undefined : sum + part), 0n)
}

function verifyWithdrawal({ input, answer, user, protocol }: Context, calls: readonly Transaction[]): DecodedCall[] {
  const { claims, pays } = WITHDRAWALS[protocol]
  const withdrawal = readObject(answer['withdrawal'])
  const shares = readAmount(withdrawal['shares'])
  const amountFields = (['amount', 'shares', 'max'] as const).filter((name) => (input[name] ?? undefined) !== undefined)
  refuseUnless(amountFields.length === 1, 'a withdrawal is requested in one way')
  refuseUnless(calls.length > 0 && calls.length <= 1 + claims.length, 'there are more calls than a withdrawal has')
  const decodedCalls = calls.map((call, index) =>
    decodeCall(call, index < calls.length - 1 ? claims : pays, ownerArguments(user)),
  )
  const last = decodedCalls.at(-1)
  refuseUnless(last !== undefined, 'there is no call')
  const names = decodedCalls.map(({ name }) => name)
  refuseUnless(new Set(names.slice(0, -1)).size === names.length - 1, 'something is claimed twice')
  refuseUnless(answer['isAsync'] === SETTLING_CALLS.includes(last.name), 'isAsync does not fit the withdrawal')
  if (last.name === 'withdraw' || last.name === 'cooldownAssets') {
    refuseUnless(
      amountFields[0] === 'amount' && last.amount === readAmount(input['amount']),
      'another amount would be withdrawn',
    )
    return decodedCalls
  }
  if (amountFields[0] === 'shares')
    refuseUnless(shares === readAmount(input['shares']), 'other shares would be given up')
  const isPaidInShares = (last.name === 'redeem' && protocol !== 'lagoon') || last.name === 'cooldownShares'
  refuseUnless(!(isPaidInShares && amountFields[0] === 'amount'), 'an amount is withdrawn as it is, not in shares')
  // A `max` withdrawal can consist only of shares whose request the vault has already settled. Only the vault knows
  // their number, so the response states 0 shares and the numbers are not compared.
  const isOnlySettled = shares === 0n && last.name === 'redeem' && names.length === 1 && amountFields[0] === 'max'
  refuseUnless(
    last.amount > 0n && (isOnlySettled || last.amount === shares),
    'the shares differ from those of the answer',
  )
  if (last.name === 'syncRedeem') {
    const isBound =
      amountFields[0] === 'amount'
        ? last.minimum === readAmount(input['amount'])
        : last.minimum > 0n && last.minimum * 100n >= readAmount(withdrawal['assets']) * (100n - MAX_SLIPPAGE_PERCENT)
    refuseUnless(isBound, 'the vault might pay less')
  }
  return decodedCalls
}

function verifyClaim({ input, answer, user, protocol }: Context, calls: readonly Transaction[]): DecodedCall[] {
  refuseUnless(calls.length === 1, 'a claim is one call')
  const decodedCalls = calls.map((call) => decodeCall(call, CLAIMS[protocol][kindOf(input)], ownerArguments(user)))
  const claimable = readObject(answer['claimable'])
  for (const { name, amount } of decodedCalls) {
    if (name === 'unstake') {
      refuseUnless(readAmount(claimable['assets']) > 0n, 'nothing would be claimed')
      continue
    }
    const claimableAmount = readAmount(claimable[ASSET_CALLS.includes(name) ? 'assets' : 'shares'])
    refuseUnless(amount > 0n && amount === claimableAmount, 'the claimed amount differs from that of the answer')
  }
  refuseUnless(answer['isAsync'] === true, 'a claim is of an asynchronous vault')
  return decodedCalls
}

/** Verifies the approvals of a withdrawal: only an ERC-7540 vault may need one, for its shares. */
function verifyShareApprovals(context: Context, decodedCalls: readonly DecodedCall[]): Step[] {
  const { protocol, vault, chainId, shareToken } = context
  const pulled = protocol === 'erc7540' ? decodedCalls.find(({ name }) => name === 'requestRedeem') : undefined
  if (!pulled) {
    refuseUnless(context.approval.length === 0, 'nothing needs an approval')
    return []
  }
  return verifyApprovals(context, { token: shareToken, spender: vault, amount: pulled.amount, on: chainId })
}

/**
 * Verifies that there is no approval, or one of exactly the amount. A reset to 0 may precede the approval, because some tokens require a
 * reset.
 */
function verifyApprovals(
  { approval, user }: Context,
  { token, spender, amount, on }: { token: unknown; spender: string; amount: bigint; on: number },
): Step[] {
  refuseUnless(approval.length <= 2, 'there are more approvals than any token needs')
  return approval.map((transaction, index) => {
    const isReset = index < approval.length - 1
    const { to } = transaction
    refuseUnless(isSameAddress(to, readAddress(token ?? approval[0]?.to)), 'the approval is of another token')
    const decoded = decodeCall(transaction, ['approve'], { user, spender })
    refuseUnless(decoded.amount === (isReset ? 0n : amount), 'the approval is not of exactly the amount')
    const does = `lets ${spender} take ${isReset ? 'nothing' : `exactly ${amount}`} of the token ${to}`
    return { chainId: on, to, call: 'approve', amount: decoded.amount, does }
  })
}

function verifyTargets({ vault }: Context, operations: readonly Transaction[]): void {
  refuseUnless(
    operations.every(({ to }) => isSameAddress(to, vault)),
    'a call is not to the vault',
  )
}

function step({ chainId, vault, user }: Context, { name, amount, minimum }: DecodedCall): Step {
  const least = minimum > 0n ? `, at least ${minimum} of the asset` : ''
  return { chainId, to: vault, call: name, amount, does: WORDS[name](amount, vault, user) + least }
}

const describeCancel = (_: bigint, vault: string, user: string) =>
  `cancels the pending request of ${user} in the vault ${vault}`
const describeCollect = (_: bigint, vault: string, user: string) =>
  `pays ${user} what the vault ${vault} returns of a cancelled request`

const WORDS: Readonly<Record<FunctionName, (amount: bigint, vault: string, user: string) => string>> = {
  approve: (amount, token) => `approves ${amount} of ${token}`,
  deposit: (amount, vault, user) => `deposits ${amount} of the asset into the vault ${vault} for ${user}`,
  requestDeposit: (amount, vault, user) => `asks the vault ${vault} to take ${amount} of the asset of ${user}`,
  syncDeposit: (amount, vault, user) => `deposits ${amount} of the asset into the vault ${vault} for ${user}`,
  claimDeposit: (amount, vault, user) => `gives ${user} the shares of ${amount} settled assets of the vault ${vault}`,
  mint: (amount, vault, user) => `gives ${user} ${amount} settled shares of the vault ${vault}`,
  withdraw: (amount, vault, user) => `has the vault ${vault} pay ${amount} of the asset to ${user}`,
  redeem: (amount, vault, user) => `gives ${amount} shares to the vault ${vault}, which pays ${user} for them`,
  requestRedeem: (amount, vault, user) => `asks the vault ${vault} to pay ${user} for ${amount} shares later`,
  claimSharesAndRequestRedeem: (amount, vault, user) =>
    `asks the vault ${vault} to pay ${user} for ${amount} shares later, unclaimed ones among them`,
  cooldownAssets: (amount, vault, user) => `asks the vault ${vault} to pay ${amount} of the asset to ${user} later`,
  cooldownShares: (amount, vault, user) => `asks the vault ${vault} to pay ${user} for ${amount} shares later`,
  unstake: (_, vault, user) => `has the vault ${vault} pay ${user} everything after its cooldown`,
  syncRedeem: (amount, vault, user) => `gives ${amount} shares to the vault ${vault}, which pays ${user} instantly`,
  cancelRequestDeposit: describeCancel,
  cancelRequestRedeem: describeCancel,
  cancelDepositRequest: describeCancel,
  cancelRedeemRequest: describeCancel,
  claimCancelDepositRequest: describeCollect,
  claimCancelRedeemRequest: describeCollect,
}

/** Throws a Refusal unless the response's list of calls for EIP-5792 has exactly these transactions. */
function verifyCalls({
  answer,
  user,
  sentOn,
  approval,
  operations,
}: Pick<Context, 'answer' | 'user' | 'sentOn' | 'approval' | 'operations'>): void {
  const transactions = [...approval, ...operations]
  const { version, chainId, from, atomicRequired, calls, ...others } = readObject(answer['calls'])
  const isRight =
    version === '2.0.0' &&
    chainId === `0x${sentOn.toString(16)}` &&
    isSameAddress(readAddress(from), user) &&
    atomicRequired === transactions.length > 1 &&
    Object.keys(others).length === 0 &&
    Array.isArray(calls) &&
    calls.length === transactions.length
  refuseUnless(isRight, 'the list of calls is not for the user on this chain')
  for (const [index, item] of calls.entries()) {
    const { to, data, value, ...more } = readObject(item)
    const { [index]: transaction } = transactions
    const isSameCall =
      transaction !== undefined &&
      isSameAddress(readAddress(to), transaction.to) &&
      typeof data === 'string' &&
      data.toLowerCase() === `0x${transaction.data}` &&
      value === `0x${transaction.value.toString(16)}` &&
      Object.keys(more).length === 0
    refuseUnless(isSameCall, 'the calls are other ones than the transactions')
  }
}

function buildContext(
  preparation: OfVault,
  input: JsonObject,
  answer: JsonObject,
  { vaults: pins, mostSent }: TrustedFacts,
): Context {
  const vault = readAddress(input['vaultAddress'])
  const chainId = Number(answer['chainId'])
  const pin = pins?.find((candidate) => isSameAddress(candidate.address, vault) && candidate.chainId === chainId)
  if (pins && !pin)
    throw new Refusal('unknown_vault', `There is no vault ${vault} on chain ${chainId} among the pinned ones.`)
  refuseUnless(
    (input['chainId'] ?? undefined) === undefined || Number(input['chainId']) === chainId,
    'it is of another chain',
  )
  const protocol = Object.keys(DEPOSITS).find((name) => name === answer['protocol']) as Protocol | undefined
  refuseUnless(protocol !== undefined && (!pin || pin.protocol === protocol), 'the protocol is not that of the vault')
  const sentOn = preparation === 'deposit' ? Number(input['srcChainId'] ?? chainId) : chainId
  const coinSent = sentOn !== chainId && isNativeCoin(String(input['srcToken'])) ? readAmount(input['amount']) : 0n
  return {
    input,
    answer,
    user: readAddress(input['userAddress']),
    vault,
    protocol,
    chainId,
    sentOn,
    asset: pin?.asset,
    shareToken: pin && (pin.shareToken ?? pin.address),
    approval: readTransactions(answer['approval'], sentOn, 0n),
    operations: readTransactions(answer['operations'], sentOn, coinSent),
    mostSent,
  }
}

function ownerArguments(user: string) {
  return { user, payer: user }
}

function kindOf(input: JsonObject): Kind {
  const kind = input['kind'] ?? 'deposit'
  refuseUnless(kind === 'deposit' || kind === 'withdrawal', 'there is no such kind')
  return kind
}

function readQuote(answer: JsonObject, amount: bigint): { readonly outputAmount: bigint } {
  const quote = readObject(answer['quote'])
  refuseUnless(readAmount(quote['inputAmount']) === amount, 'the quote is of another amount')
  return { outputAmount: readAmount(quote['outputAmount']) }
}

/** Reads transactions. Throws a Refusal unless each is on the chain `sentOn` and sends exactly `coin` of the native coin. */
function readTransactions(list: unknown, sentOn: number, coin: bigint): Transaction[] {
  refuseUnless(Array.isArray(list), 'there is no list of transactions')
  return list.map((item) => {
    const transaction = readObject(item)
    const { chainId, to, data, value } = transaction
    // A wallet might act on any other field, so only the four known fields are allowed.
    const isOne =
      Object.keys(transaction).length === 4 && typeof data === 'string' && /^0x([0-9a-f]{2}){4,}$/i.test(data)
    refuseUnless(isOne, 'an entry is no transaction')
    refuseUnless(chainId === sentOn, 'a transaction is for another chain')
    refuseUnless(
      value === `${coin}`,
      coin === 0n ? 'a transaction sends coins' : 'another amount of coins is sent than requested',
    )
    return { to: readAddress(to), data: data.slice(2).toLowerCase(), value: coin }
  })
}

/** Reads a value as an object. Throws a Refusal if it is no object. */
export function readObject(value: unknown): JsonObject {
  refuseUnless(typeof value === 'object' && value !== null && !Array.isArray(value), 'a part of the answer is missing')
  // The cast is safe because any object is a record with text keys and unknown values.
  return value as JsonObject
}

/** Reads a value as an address. Throws a Refusal if it is no address. */
export function readAddress(value: unknown): string {
  refuseUnless(typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value), 'an address is missing')
  return value
}

/** Reads a value as an amount in the smallest unit. Throws a Refusal if it is no amount. */
export function readAmount(value: unknown): bigint {
  refuseUnless(typeof value === 'string' && /^\d{1,78}$/.test(value), 'an amount is missing')
  return BigInt(value)
}
