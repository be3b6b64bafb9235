import {
  type Address,
  concat,
  encodeAbiParameters,
  encodePacked,
  type Hash,
  type Hex,
  hexToBigInt,
  keccak256,
  maxUint256,
  numberToHex,
  pad,
  parseAbi,
  parseAbiParameters,
  parseUnits,
  zeroAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getContractEvents } from 'viem/actions'
import { findBridgeTokenBySymbol, toBridgedToken } from '../lib/bridge/tokens.ts'
import { COIN_ADDRESS, evmChain } from '../lib/chain/registry.ts'
import { ACCOUNTS } from './accounts.ts'
import { createPlan } from './chains/plan.ts'
import type { LocalToken } from './chains/world.ts'
import type { LocalChain } from './chains.ts'
import { compiledContract } from './contracts.ts'
import { copyContract } from './copies.ts'
import { deployToken } from './deploy.ts'
import { callRpc, createBatchingClient } from './rpc.ts'

const STRUCTS = [
  'struct RelayData { bytes32 depositor; bytes32 recipient; bytes32 exclusiveRelayer; bytes32 inputToken; bytes32 outputToken; uint256 inputAmount; uint256 outputAmount; uint256 originChainId; uint256 depositId; uint32 fillDeadline; uint32 exclusivityDeadline; bytes message; }',
  'struct SlowFill { RelayData relayData; uint256 chainId; uint256 updatedOutputAmount; }',
  'struct RefundLeaf { uint256 amountToReturn; uint256 chainId; uint256[] refundAmounts; uint32 leafId; address l2TokenAddress; address[] refundAddresses; }',
  'struct Execution { bytes32 updatedRecipient; bytes32 updatedMessageHash; uint256 updatedOutputAmount; uint8 fillType; }',
  'struct LegacyExecution { address updatedRecipient; bytes updatedMessage; uint256 updatedOutputAmount; uint8 fillType; }',
  'struct Call { address target; bytes callData; uint256 value; }',
  'struct Replacement { address token; uint256 offset; }',
] as const

/**
 * ABI of Across' SpokePool, the contract that takes and fills bridge deposits. It includes the older V3 events, which `LegacySpokePool`
 * emits.
 */
export const spokePoolAbi = parseAbi([
  ...STRUCTS,
  'function deposit(bytes32 depositor, bytes32 recipient, bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, bytes32 exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message) payable',
  'function depositV3(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message) payable',
  'function depositNow(bytes32 depositor, bytes32 recipient, bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, bytes32 exclusiveRelayer, uint32 fillDeadlineOffset, uint32 exclusivityParameter, bytes message) payable',
  'function depositV3Now(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 fillDeadlineOffset, uint32 exclusivityParameter, bytes message) payable',
  'function unsafeDeposit(bytes32 depositor, bytes32 recipient, bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, bytes32 exclusiveRelayer, uint256 depositNonce, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message) payable',
  'function getUnsafeDepositId(address sender, bytes32 depositor, uint256 depositNonce) pure returns (uint256)',
  'function fillRelay(RelayData relayData, uint256 repaymentChainId, bytes32 repaymentAddress)',
  'function requestSlowFill(RelayData relayData)',
  'function executeSlowRelayLeaf(SlowFill slowFillLeaf, uint32 rootBundleId, bytes32[] proof)',
  'function speedUpDeposit(bytes32 depositor, uint256 depositId, uint256 updatedOutputAmount, bytes32 updatedRecipient, bytes updatedMessage, bytes depositorSignature)',
  'function speedUpV3Deposit(address depositor, uint256 depositId, uint256 updatedOutputAmount, address updatedRecipient, bytes updatedMessage, bytes depositorSignature)',
  'function fillRelayWithUpdatedDeposit(RelayData relayData, uint256 repaymentChainId, bytes32 repaymentAddress, uint256 updatedOutputAmount, bytes32 updatedRecipient, bytes updatedMessage, bytes depositorSignature)',
  'function relayRootBundle(bytes32 relayerRefundRoot, bytes32 slowRelayRoot)',
  'function executeRelayerRefundLeaf(uint32 rootBundleId, RefundLeaf relayerRefundLeaf, bytes32[] proof) payable',
  'function claimRelayerRefund(bytes32 l2TokenAddress, bytes32 refundAddress)',
  'function getRelayerRefund(address l2TokenAddress, address refundAddress) view returns (uint256)',
  'function multicall(bytes[] data) returns (bytes[] results)',
  'function pauseDeposits(bool pause)',
  'function pauseFills(bool pause)',
  'function fillStatuses(bytes32 relayHash) view returns (uint256)',
  'function getV3RelayHash(RelayData relayData) view returns (bytes32)',
  'function numberOfDeposits() view returns (uint32)',
  'function depositQuoteTimeBuffer() view returns (uint32)',
  'function fillDeadlineBuffer() view returns (uint32)',
  'function getCurrentTime() view returns (uint256)',
  'function pausedDeposits() view returns (bool)',
  'function pausedFills() view returns (bool)',
  'function wrappedNativeToken() view returns (address)',
  'function chainId() view returns (uint256)',
  'event FundsDeposited(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint256 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 indexed depositor, bytes32 recipient, bytes32 exclusiveRelayer, bytes message)',
  'event V3FundsDeposited(address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint32 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, address indexed depositor, address recipient, address exclusiveRelayer, bytes message)',
  'event FilledRelay(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId, uint256 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 exclusiveRelayer, bytes32 indexed relayer, bytes32 depositor, bytes32 recipient, bytes32 messageHash, Execution relayExecutionInfo)',
  'event FilledV3Relay(address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId, uint32 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline, address exclusiveRelayer, address indexed relayer, address depositor, address recipient, bytes message, LegacyExecution relayExecutionInfo)',
  'event RequestedSpeedUpDeposit(uint256 updatedOutputAmount, uint256 indexed depositId, bytes32 indexed depositor, bytes32 updatedRecipient, bytes updatedMessage, bytes depositorSignature)',
  'event RequestedSlowFill(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed originChainId, uint256 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 exclusiveRelayer, bytes32 depositor, bytes32 recipient, bytes32 messageHash)',
  'event ExecutedRelayerRefundRoot(uint256 amountToReturn, uint256 indexed chainId, uint256[] refundAmounts, uint32 indexed rootBundleId, uint32 indexed leafId, address l2TokenAddress, address[] refundAddresses, bool deferredRefunds, address caller)',
  'event RelayedRootBundle(uint32 indexed rootBundleId, bytes32 indexed relayerRefundRoot, bytes32 indexed slowRelayRoot)',
  'event ClaimedRelayerRefund(bytes32 indexed l2TokenAddress, bytes32 indexed refundAddress, uint256 amount, address indexed caller)',
  'event PausedDeposits(bool isPaused)',
  'event PausedFills(bool isPaused)',
  'error InvalidQuoteTimestamp()',
  'error InvalidFillDeadline()',
  'error InvalidExclusiveRelayer()',
  'error InvalidOutputToken()',
  'error InvalidAddress()',
  'error MsgValueDoesNotMatchInputAmount()',
  'error DepositsArePaused()',
  'error FillsArePaused()',
  'error NotExclusiveRelayer()',
  'error NoSlowFillsInExclusivityWindow()',
  'error RelayFilled()',
  'error InvalidSlowFillRequest()',
  'error ExpiredFillDeadline()',
  'error InvalidMerkleProof()',
  'error InvalidMerkleLeaf()',
  'error InvalidChainId()',
  'error ClaimedMerkleLeaf()',
  'error InvalidDepositorSignature()',
  'error InsufficientSpokePoolBalanceToExecuteLeaf()',
  'error NoRelayerRefundToClaim()',
  'error CallReverted(uint256 index, Call[] calls)',
  'error InvalidCall(uint256 index, Call[] calls)',
  'error SafeERC20FailedOperation(address token)',
])

/** ABI of Across' MulticallHandler, which executes the calls in a bridge deposit's message on the destination chain. */
export const multicallHandlerAbi = parseAbi([
  ...STRUCTS,
  'function handleV3AcrossMessage(address token, uint256 amount, address relayer, bytes message)',
  'function attemptCalls(Call[] calls)',
  'function makeCallWithBalance(address target, bytes callData, uint256 value, Replacement[] replacement)',
  'function drainLeftoverTokens(address token, address destination)',
  'event CallsFailed(Call[] calls, address indexed fallbackRecipient)',
  'event DrainedTokens(address indexed recipient, address indexed token, uint256 indexed amount)',
  'error CallReverted(uint256 index, Call[] calls)',
  'error InvalidCall(uint256 index, Call[] calls)',
  'error ReplacementCallFailed(bytes callData)',
  'error CalldataTooShort(uint256 callDataLength, uint256 offset)',
  'error NotSelf()',
])

const UPDATE_DETAILS =
  'uint256 depositId, uint256 originChainId, uint256 updatedOutputAmount, bytes32 updatedRecipient, bytes updatedMessage'
const RELAY = parseAbiParameters([STRUCTS[0], 'RelayData relayData, uint256 destinationChainId'])

/** Bridge deposit, as read from the SpokePool's event, with the location of the event. Accounts and tokens are padded to 32 bytes. */
export type BridgeDeposit = {
  readonly originChainId: number
  readonly destinationChainId: number
  readonly depositId: bigint
  readonly depositor: Hex
  readonly recipient: Hex
  readonly exclusiveRelayer: Hex
  readonly inputToken: Hex
  readonly outputToken: Hex
  /** Amount in the input token's smallest unit. */
  readonly inputAmount: bigint
  /** Amount in the output token's smallest unit. */
  readonly outputAmount: bigint
  /**
   * Time of the quote in seconds since 1970. The two deadlines below have the same unit, and hold by the destination
   * chain's clock.
   */
  readonly quoteTimestamp: number
  readonly fillDeadline: number
  readonly exclusivityDeadline: number
  readonly message: Hex
  readonly transactionHash: Hash
  readonly blockNumber: bigint
  readonly logIndex: number
}

/** New terms for a bridge deposit, which its depositor signed. `outputAmount` is in the output token's smallest unit. */
export type SpeedUp = {
  readonly originChainId: number
  readonly depositId: bigint
  readonly depositor: Hex
  readonly outputAmount: bigint
  readonly recipient: Hex
  readonly message: Hex
  readonly signature: Hex
}

type BridgedToken = { readonly address: Address; readonly decimals: number }

const RELAYER = ACCOUNTS.relayer.address
const USER_FUNDS = '1000000'
// Initial token balances of the relayer and the SpokePool, in whole tokens. They are large, so that no fill lacks funds.
const RELAYER_FUNDS = '100000000'
const POOL_FUNDS = '10000000'

/** Returns the addresses of Across' SpokePool (`pool`) and MulticallHandler on a chain. Throws if the bridge does not support the chain. */
export function bridgeContracts(chainId: number): { readonly pool: Address; readonly multicallHandler: Address } {
  const bridge = evmChain(chainId)?.bridge
  if (!bridge) throw new Error(`The bridge does not support chain ${chainId}`)
  return bridge
}

/**
 * Installs the bridge contracts at their real addresses, and the chain's wrapped coin if the bridge accepts it. Funds the relayer and the
 * SpokePool. Deposit ids start at the chain id, so that two chains have different ids.
 */
export async function deployBridge(chain: LocalChain, tokens: readonly BridgedToken[]): Promise<void> {
  const { chainId } = chain
  const { pool, multicallHandler } = bridgeContracts(chainId)
  const [handler, wrappedEther] = await Promise.all(['MulticallHandler', 'WrappedEther'].map(compiledContract))
  const coin = toBridgedToken(chainId, COIN_ADDRESS)
  const hasCoin = coin !== COIN_ADDRESS
  // Solidity packs the variables of a storage slot from right to left, so the last variable comes first here.
  const state = encodePacked(
    ['uint48', 'address', 'bool', 'bool', 'uint32'],
    [0, hasCoin ? coin : zeroAddress, false, false, chainId],
  )
  await callRpc(chain, [
    { method: 'anvil_setCode', params: [multicallHandler, handler?.deployedBytecode] },
    { method: 'anvil_setStorageAt', params: [pool, numberToHex(0, { size: 32 }), state] },
    ...(hasCoin ? wrapCoin(coin, pool, wrappedEther?.deployedBytecode) : []),
  ])
  await installPool(chain)
  await supplyBridge(chain, tokens)
}

/**
 * Installs a SpokePool's code at an address, by default the bridge's real address. Existing storage stays. `LegacySpokePool` emits the
 * older V3 events. With another address, a test gets a false SpokePool, whose events the service must ignore.
 */
export async function installPool(
  chain: LocalChain,
  options: { readonly contract?: 'SpokePool' | 'LegacySpokePool'; readonly address?: Address } = {},
): Promise<void> {
  const { contract = 'SpokePool', address = bridgeContracts(chain.chainId).pool } = options
  const { deployedBytecode } = await compiledContract(contract)
  await callRpc(chain, [{ method: 'anvil_setCode', params: [address, deployedBytecode] }])
}

/**
 * Deploys tokens with these symbols at their real addresses. Mints a million of each token to every account in
 * `ACCOUNTS.users`. Throws for a symbol of a token that the bridge does not accept.
 */
export async function deployBridgeTokens(chain: LocalChain, symbols: readonly string[]): Promise<LocalToken[]> {
  const { chainId } = chain
  const tokens = symbols.map((symbol) => {
    const token = findBridgeTokenBySymbol(chainId, symbol)
    if (!token) throw new Error(`The bridge does not accept ${symbol} on chain ${chainId}`)
    return { chainId, name: `Bridged ${symbol}`, ...token }
  })
  for (const { address, ...token } of tokens) await copyContract(chain, await deployToken(chain, token), address)
  const plan = await createPlan(chain)
  for (const { address, decimals } of tokens) {
    for (const user of ACCOUNTS.users) {
      plan.call(RELAYER, address, 'Token', 'mint', [user.address, parseUnits(USER_FUNDS, decimals)])
    }
  }
  await plan.execute()
  return tokens
}

function wrapCoin(coin: Address, pool: Address, code: Hex | undefined) {
  const [relayerFunds, poolFunds] = [parseUnits(RELAYER_FUNDS, 18), parseUnits(POOL_FUNDS, 18)]
  const entry = (key: Address, map: Hex): Hex => keccak256(concat([pad(key), map]))
  const [balances, allowances] = [numberToHex(0, { size: 32 }), numberToHex(1, { size: 32 })]
  const words: readonly (readonly [Hex, bigint])[] = [
    [entry(RELAYER, balances), relayerFunds],
    [entry(pool, balances), poolFunds],
    [entry(pool, entry(RELAYER, allowances)), maxUint256],
  ]
  return [
    { method: 'anvil_setCode', params: [coin, code] },
    { method: 'anvil_setBalance', params: [coin, numberToHex(relayerFunds + poolFunds)] },
    ...words.map(([slot, value]) => ({
      method: 'anvil_setStorageAt',
      params: [coin, slot, numberToHex(value, { size: 32 })],
    })),
  ]
}

async function supplyBridge(chain: LocalChain, tokens: readonly BridgedToken[]): Promise<void> {
  if (tokens.length === 0) return
  const { pool } = bridgeContracts(chain.chainId)
  const plan = await createPlan(chain)
  for (const { address, decimals } of tokens) {
    plan.call(RELAYER, address, 'Token', 'mint', [RELAYER, parseUnits(RELAYER_FUNDS, decimals)])
    plan.call(RELAYER, address, 'Token', 'mint', [pool, parseUnits(POOL_FUNDS, decimals)])
    plan.call(RELAYER, address, 'Token', 'approve', [pool, maxUint256])
  }
  await plan.execute()
}

/** Returns the bridge deposits in a block range, oldest first. Reads the event FundsDeposited and the older V3FundsDeposited. */
export async function readDeposits(
  chain: LocalChain,
  range: { readonly fromBlock?: bigint; readonly toBlock?: bigint } = {},
): Promise<BridgeDeposit[]> {
  const { fromBlock = 0n, toBlock = 'latest' } = range
  const client = createBatchingClient(chain)
  const { pool: address } = bridgeContracts(chain.chainId)
  const events = { address, abi: spokePoolAbi, fromBlock, toBlock, strict: true } as const
  const [deposits, legacyDeposits] = await Promise.all([
    getContractEvents(client, { ...events, eventName: 'FundsDeposited' }),
    getContractEvents(client, { ...events, eventName: 'V3FundsDeposited' }),
  ])
  return [...deposits, ...legacyDeposits]
    .sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex)
    .map(({ args, transactionHash, blockNumber, logIndex }) => ({
      originChainId: chain.chainId,
      // The conversion is exact, because no known chain has an id above 2^53.
      destinationChainId: Number(args.destinationChainId),
      depositId: BigInt(args.depositId),
      depositor: padToWord(args.depositor),
      recipient: padToWord(args.recipient),
      exclusiveRelayer: padToWord(args.exclusiveRelayer),
      inputToken: padToWord(args.inputToken),
      outputToken: padToWord(args.outputToken),
      inputAmount: args.inputAmount,
      outputAmount: args.outputAmount,
      quoteTimestamp: args.quoteTimestamp,
      fillDeadline: args.fillDeadline,
      exclusivityDeadline: args.exclusivityDeadline,
      message: args.message,
      transactionHash,
      blockNumber,
      logIndex,
    }))
}

/** Returns the new terms (`SpeedUp`) of bridge deposits that were published in a block range, oldest first. */
export async function readSpeedUps(
  chain: LocalChain,
  range: { readonly fromBlock?: bigint; readonly toBlock?: bigint } = {},
): Promise<SpeedUp[]> {
  const { fromBlock = 0n, toBlock = 'latest' } = range
  const events = await getContractEvents(createBatchingClient(chain), {
    ...{ address: bridgeContracts(chain.chainId).pool, abi: spokePoolAbi, eventName: 'RequestedSpeedUpDeposit' },
    ...{ fromBlock, toBlock, strict: true },
  })
  return events.map(({ args }) => ({
    originChainId: chain.chainId,
    depositId: args.depositId,
    depositor: args.depositor,
    outputAmount: args.updatedOutputAmount,
    recipient: args.updatedRecipient,
    message: args.updatedMessage,
    signature: args.depositorSignature,
  }))
}

/** Signs new terms for a bridge deposit with the depositor's key (EIP-712). Returns the terms with the signature. */
export async function signSpeedUp(privateKey: Hex, unsigned: Omit<SpeedUp, 'signature'>): Promise<SpeedUp> {
  const { originChainId, depositId, outputAmount, recipient, message } = unsigned
  const signature = await privateKeyToAccount(privateKey).signTypedData({
    domain: { name: 'ACROSS-V2', version: '1.0.0', chainId: originChainId },
    types: { UpdateDepositDetails: parseAbiParameters(UPDATE_DETAILS) },
    primaryType: 'UpdateDepositDetails',
    message: {
      depositId,
      originChainId: BigInt(originChainId),
      updatedOutputAmount: outputAmount,
      updatedRecipient: recipient,
      updatedMessage: message,
    },
  })
  return { ...unsigned, signature }
}

// Pads an address to 32 bytes, because the older V3 events contain addresses of 20 bytes.
function padToWord(accountOrWord: Hex): Hex {
  return numberToHex(hexToBigInt(accountOrWord), { size: 32 })
}

/** Returns a deposit as the struct RelayData, the form that functions of the destination chain's SpokePool expect. */
export function relayDataOf(deposit: BridgeDeposit) {
  const { depositor, recipient, exclusiveRelayer, inputToken, outputToken, inputAmount, outputAmount } = deposit
  const { depositId, fillDeadline, exclusivityDeadline, message } = deposit
  return {
    ...{ depositor, recipient, exclusiveRelayer, inputToken, outputToken, inputAmount, outputAmount },
    originChainId: BigInt(deposit.originChainId),
    ...{ depositId, fillDeadline, exclusivityDeadline, message },
  }
}

/**
 * Returns the hash by which the destination chain's SpokePool identifies a deposit: keccak256(abi.encode(relayData, destinationChainId)).
 */
export function relayHashOf(deposit: BridgeDeposit): Hash {
  return keccak256(encodeAbiParameters(RELAY, [relayDataOf(deposit), BigInt(deposit.destinationChainId)]))
}
