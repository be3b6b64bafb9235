import {
  type Address,
  type ContractFunctionName,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import type { LocalTransaction } from '../../sandbox/transactions.ts'
import { LAGOON_ABI } from './lagoon-abi.ts'

// ABIs and addresses as third parties publish them, written independently of the service. So a mistake in the service's ABIs
// fails a test.

/** Chain id of Base. */
export const BASE = 8453
/** Chain id of Arbitrum One. */
export const ARBITRUM = 42161

/** Address of the bridge's message handler contract, the same on every chain. */
export const HANDLER: Address = '0x0F7Ae28dE1C8532170AD4ee566B5801485c13a0E'

/** Addresses of the bridge's pool contracts, by chain id. */
export const POOLS: Readonly<Record<number, Address>> = {
  56: '0x4e8E101924eDE233C13e2D8622DC8aED2872d505',
  [BASE]: '0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64',
  [ARBITRUM]: '0xe35e9842fceaCA96570B734083f4a58e8F7C5f2A',
}

/** Placeholder address that stands for a chain's native coin, such as ether. */
export const COIN: Address = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'

/** Addresses of wrapped ether (WETH), by chain id. */
export const WETH: Readonly<Record<number, Address>> = {
  [BASE]: '0x4200000000000000000000000000000000000006',
  [ARBITRUM]: '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
}

/** ABI of ERC-20, with functions that only some tokens have. */
export const TOKEN_ABI = parseAbi([
  'function mint(address to, uint256 amount)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function increaseAllowance(address spender, uint256 amount)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

/** ABI of every kind of vault: ERC-4626 and all versions of Lagoon. */
export const VAULT_ABI = [
  ...LAGOON_ABI,
  ...parseAbi([
    'function setDepositCap(uint256 cap)',
    'function setDailyLimit(uint256 limit)',
    'function lend(uint256 assets)',
    'function transfer(address to, uint256 amount) returns (bool)',
    'function owner() view returns (address)',
    'function disableWhitelist()',
    'function revokeFromBlacklist(address[] accounts)',
    'error Closed()',
    'error NotClosing(uint8 currentState)',
    'error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)',
  ]),
]

/** ABI of ERC-7887, which cancels requests to asynchronous vaults. */
export const CANCELLATION_ABI = parseAbi([
  'function cancelDepositRequest(uint256 requestId, address controller)',
  'function claimCancelDepositRequest(uint256 requestId, address receiver, address controller)',
  'function cancelRedeemRequest(uint256 requestId, address controller)',
  'function claimCancelRedeemRequest(uint256 requestId, address receiver, address controller)',
])

/** ABI of the bridge's pool contract. */
export const POOL_ABI = parseAbi([
  'struct RelayData { bytes32 depositor; bytes32 recipient; bytes32 exclusiveRelayer; bytes32 inputToken; bytes32 outputToken; uint256 inputAmount; uint256 outputAmount; uint256 originChainId; uint256 depositId; uint32 fillDeadline; uint32 exclusivityDeadline; bytes message; }',
  'function depositV3(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message) payable',
  'function depositV3Now(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 fillDeadlineOffset, uint32 exclusivityParameter, bytes message) payable',
  'function deposit(bytes32 depositor, bytes32 recipient, bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, bytes32 exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message) payable',
  'function unsafeDeposit(bytes32 depositor, bytes32 recipient, bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, bytes32 exclusiveRelayer, uint256 depositNonce, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message) payable',
  'function multicall(bytes[] data)',
  'function fillRelay(RelayData relayData, uint256 repaymentChainId, bytes32 repaymentAddress)',
  'function pauseDeposits(bool pause)',
  'event FundsDeposited(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint256 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 indexed depositor, bytes32 recipient, bytes32 exclusiveRelayer, bytes message)',
  'event V3FundsDeposited(address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint32 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, address indexed depositor, address recipient, address exclusiveRelayer, bytes message)',
  'event FilledRelay(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId, uint256 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 exclusiveRelayer, bytes32 indexed relayer, bytes32 depositor, bytes32 recipient, bytes32 messageHash, (bytes32 updatedRecipient, bytes32 updatedMessageHash, uint256 updatedOutputAmount, uint8 fillType) relayExecutionInfo)',
  'event ExecutedRelayerRefundRoot(uint256 amountToReturn, uint256 indexed chainId, uint256[] refundAmounts, uint32 indexed rootBundleId, uint32 indexed leafId, address l2TokenAddress, address[] refundAddresses, bool deferredRefunds, address caller)',
  'event ClaimedRelayerRefund(bytes32 indexed l2TokenAddress, bytes32 indexed refundAddress, uint256 amount, address indexed caller)',
])

/** ABI of the bridge's message handler contract. */
export const HANDLER_ABI = parseAbi([
  'struct Call { address target; bytes callData; uint256 value; }',
  'struct Replacement { address token; uint256 offset; }',
  'function handleV3AcrossMessage(address token, uint256 amount, address relayer, bytes message)',
  'function makeCallWithBalance(address target, bytes callData, uint256 value, Replacement[] replacement)',
  'function drainLeftoverTokens(address token, address destination)',
  'event CallsFailed(Call[] calls, address indexed fallbackRecipient)',
  'event DrainedTokens(address indexed recipient, address indexed token, uint256 indexed amount)',
])

/** ABI parameters of the message that a bridge deposit sends to the handler contract. */
export const MESSAGE_PARAMETERS = parseAbiParameters([
  'Instructions instructions',
  'struct Instructions { Call[] calls; address fallbackRecipient; }',
  'struct Call { address target; bytes callData; uint256 value; }',
])

/** ABI of Multicall3, the contract that batches calls. */
export const MULTICALL_ABI = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] returnData)',
  'function getBlockNumber() view returns (uint256)',
  'function getCurrentBlockTimestamp() view returns (uint256)',
])

const ALL = [...TOKEN_ABI, ...VAULT_ABI, ...POOL_ABI, ...HANDLER_ABI, ...MULTICALL_ABI]

/** Name of a function in any ABI of this file. */
export type FunctionName = ContractFunctionName<typeof ALL>

/** Encodes the calldata of a function in any ABI of this file. */
export function encodeCall(functionName: FunctionName, args: readonly unknown[] = []): Hex {
  // The cast is needed because viem infers arguments only from a literal function name. The contract rejects wrong arguments.
  return encodeFunctionData({ abi: ALL, functionName, args } as never)
}

/** Builds a local account's transaction that calls a function in any ABI of this file. */
export function buildTransaction(from: Address, to: Address, ...call: Parameters<typeof encodeCall>): LocalTransaction {
  return { label: call[0], from, to, data: encodeCall(...call) }
}

/** Decodes the bridge deposit in a call of the pool contract. Throws for a call of any other function. */
export function decodeBridgeDeposit(data: Hex) {
  const { functionName, args } = decodeFunctionData({ abi: POOL_ABI, data })
  if (functionName !== 'depositV3') throw new Error(`This is no deposit but ${functionName}`)
  const [depositor, recipient, inputToken, outputToken, inputAmount, outputAmount, destinationChainId, ...more] = args
  const [exclusiveRelayer, quoteTimestamp, fillDeadline, exclusivity, message] = more
  return {
    ...{ depositor, recipient, inputToken, outputToken, inputAmount, outputAmount, destinationChainId },
    ...{ exclusiveRelayer, quoteTimestamp, fillDeadline, exclusivity, message },
  }
}
