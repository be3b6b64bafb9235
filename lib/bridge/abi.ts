import { parseAbi, parseAbiParameters } from 'viem'

/**
 * ABI of the functions and events of the bridge's pool (Across SpokePool) that the service uses. Older deposits have
 * the event V3FundsDeposited.
 */
export const poolAbi = parseAbi([
  'function depositV3(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message) payable',
  'function getCurrentTime() view returns (uint256)',
  'function depositQuoteTimeBuffer() view returns (uint32)',
  'function fillDeadlineBuffer() view returns (uint32)',
  'function pausedDeposits() view returns (bool)',
  'function pausedFills() view returns (bool)',
  'function claimRelayerRefund(bytes32 l2TokenAddress, bytes32 refundAddress)',
  'function getRelayerRefund(address l2TokenAddress, address refundAddress) view returns (uint256)',
  'function fillStatuses(bytes32 relayHash) view returns (uint256)',
  'event FundsDeposited(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint256 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 indexed depositor, bytes32 recipient, bytes32 exclusiveRelayer, bytes message)',
  'event V3FundsDeposited(address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint32 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, address indexed depositor, address recipient, address exclusiveRelayer, bytes message)',
  'event FilledRelay(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId, uint256 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 exclusiveRelayer, bytes32 indexed relayer, bytes32 depositor, bytes32 recipient, bytes32 messageHash, (bytes32 updatedRecipient, bytes32 updatedMessageHash, uint256 updatedOutputAmount, uint8 fillType) relayExecutionInfo)',
  'event RequestedSlowFill(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed originChainId, uint256 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 exclusiveRelayer, bytes32 depositor, bytes32 recipient, bytes32 messageHash)',
  'event ExecutedRelayerRefundRoot(uint256 amountToReturn, uint256 indexed chainId, uint256[] refundAmounts, uint32 indexed rootBundleId, uint32 indexed leafId, address l2TokenAddress, address[] refundAddresses, bool deferredRefunds, address caller)',
  'event ClaimedRelayerRefund(bytes32 indexed l2TokenAddress, bytes32 indexed refundAddress, uint256 amount, address indexed caller)',
  'error InvalidQuoteTimestamp()',
  'error InvalidFillDeadline()',
  'error InvalidExclusiveRelayer()',
  'error DepositsArePaused()',
  'error DisabledRoute()',
])

/** ABI of the contract on the destination that runs the calls of a message (Across MulticallHandler). */
export const handlerAbi = parseAbi([
  'struct Replacement { address token; uint256 offset; }',
  'struct Call { address target; bytes callData; uint256 value; }',
  'function makeCallWithBalance(address target, bytes callData, uint256 value, Replacement[] replacement)',
  'event CallsFailed(Call[] calls, address indexed fallbackRecipient)',
  'event DrainedTokens(address indexed recipient, address indexed token, uint256 indexed amount)',
])

/** Message to the handler contract: the calls to make, and the account that gets the tokens if a call fails. */
export const instructionsParameters = parseAbiParameters([
  'Instructions instructions',
  'struct Instructions { Call[] calls; address fallbackRecipient; }',
  'struct Call { address target; bytes callData; uint256 value; }',
])

/** Parameters of the relay hash, which identifies a transfer on the destination: keccak256(abi.encode(relayData, destinationChainId)). */
export const relayDataParameters = parseAbiParameters([
  'RelayData relayData, uint256 destinationChainId',
  'struct RelayData { bytes32 depositor; bytes32 recipient; bytes32 exclusiveRelayer; bytes32 inputToken; bytes32 outputToken; uint256 inputAmount; uint256 outputAmount; uint256 originChainId; uint256 depositId; uint32 fillDeadline; uint32 exclusivityDeadline; bytes message; }',
])

/**
 * Terms of a deposit into the bridge. The deposit's calldata and its event contain the same terms, so the hash of the
 * terms links the two.
 */
export const termsParameters = parseAbiParameters([
  'Terms terms',
  'struct Terms { bytes32 depositor; bytes32 recipient; bytes32 inputToken; bytes32 outputToken; uint256 inputAmount; uint256 outputAmount; uint256 destinationChainId; uint32 quoteTimestamp; uint32 fillDeadline; bytes message; }',
])

/** Event of the ERC-4337 entry point for an included user operation, the same in all versions. */
export const erc4337EntryPointAbi = parseAbi([
  'event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)',
])
