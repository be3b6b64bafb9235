import { type Abi, parseAbi } from 'viem'
import { PROTOCOLS } from './protocols.ts'

/**
 * Solidity errors with which vaults and tokens refuse users, by project. Errors that only operators and borrowers get are left out. Yearn
 * V3 reverts with texts, which need no decoding.
 */
const KNOWN_ERRORS = {
  // Source of these errors: ERC-6093 and OpenZeppelin 5 (interfaces/draft-IERC6093.sol, token, utils, access).
  openZeppelin: [
    'ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
    'ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
    'ERC20InvalidReceiver(address receiver)',
    'ERC20InvalidSender(address sender)',
    'ERC20ExceededCap(uint256 increasedSupply, uint256 cap)',
    'SafeERC20FailedOperation(address token)',
    'ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)',
    'ERC4626ExceededMaxMint(address receiver, uint256 shares, uint256 max)',
    'ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)',
    'ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)',
    'EnforcedPause()',
    'AccessControlUnauthorizedAccount(address account, bytes32 neededRole)',
    'OwnableUnauthorizedAccount(address account)',
    'ReentrancyGuardReentrantCall()',
  ],
  // Source: hopperlabsxyz/lagoon-v0, src/v0.x.0/primitives/Errors.sol.
  lagoon: [
    'OnlyOneRequestAllowed()',
    'OnlySyncDepositAllowed()',
    'OnlyAsyncDepositAllowed()',
    'SyncOperationNotAllowed()',
    'BelowMinimumAssets(uint256 assets, uint256 minimumAssets)',
    'TotalAssetsExpired()',
    'RequestIdNotClaimable()',
    'RequestNotCancelable(uint256 requestId)',
    'MaxCapReached()',
    'NotWhitelisted()',
    'AddressNotAllowed(address account)',
    'NotOpen(uint8 state)',
    'Closed()',
    'ERC7540InvalidOperator()',
    'InvalidController(address controller)',
    'GuardrailsViolation()',
  ],
  // Errors of ERC-7540 vaults: the standard itself names none. Source: centrifuge/protocol, src/vaults/interfaces.
  centrifuge: [
    'InvalidOwner()',
    'InvalidController()',
    'InsufficientBalance()',
    'ZeroAmountNotAllowed()',
    'TransferNotAllowed()',
    'CancellationIsPending()',
    'NoPendingRequest()',
    'ExceedsMaxDeposit()',
    'ExceedsDepositLimits()',
    'ExceedsMaxRedeem()',
    'ExceedsRedeemLimits()',
  ],
  // Source: superform-xyz, ISuperVault.sol.
  superform: ['ZERO_AMOUNT()', 'INVALID_AMOUNT()', 'INVALID_CONTROLLER()'],
  // Source: ethena-labs, IStakedUSDe.sol and IStakedUSDeCooldown.sol.
  ethena: [
    'OperationNotAllowed()',
    'MinSharesViolation()',
    'InvalidAmount()',
    'InvalidZeroAddress()',
    'ExcessiveRedeemAmount()',
    'ExcessiveWithdrawAmount()',
    'InvalidCooldown()',
  ],
  // Source: morpho-org/metamorpho, src/libraries/ErrorsLib.sol. Euler's euler-xyz/euler-earn has these errors too, and ZeroShares.
  morphoV1: ['NotEnoughLiquidity()', 'AllCapsReached()', 'ZeroAddress()', 'ZeroShares()'],
  // Source: morpho-org/vault-v2, src/libraries/ErrorsLib.sol.
  morphoV2: [
    'AbsoluteCapExceeded()',
    'RelativeCapExceeded()',
    'CapExceeded()',
    'ZeroAbsoluteCap()',
    'CannotReceiveShares()',
    'CannotReceiveAssets()',
    'CannotSendShares()',
    'CannotSendAssets()',
    'TransferReturnedFalse()',
    'TransferReverted()',
    'TransferFromReturnedFalse()',
    'TransferFromReverted()',
  ],
  // Source: euler-xyz/euler-vault-kit, src/EVault/shared/Errors.sol.
  euler: [
    'E_InsufficientAllowance()',
    'E_InsufficientCash()',
    'E_InsufficientAssets()',
    'E_InsufficientBalance()',
    'E_SupplyCapExceeded()',
    'E_OperationDisabled()',
    'E_AccountLiquidity()',
    'E_AmountTooLargeToEncode()',
    'E_ZeroAssets()',
    'E_ZeroShares()',
    'E_BadAssetReceiver()',
    'E_BadSharesOwner()',
    'E_BadSharesReceiver()',
    'E_NotSupported()',
    'E_Unauthorized()',
    'E_Reentrancy()',
  ],
  // Source: aave-dao/aave-v3-origin from version 3.4 on, Errors.sol and IERC4626StataToken.sol. Earlier versions revert with error numbers
  // as text.
  aave: [
    'SupplyCapExceeded()',
    'ReserveInactive()',
    'ReserveFrozen()',
    'ReservePaused()',
    'NotEnoughAvailableUserBalance()',
    'HealthFactorLowerThanLiquidationThreshold()',
    'StaticATokenInvalidZeroShares()',
  ],
} as const satisfies Record<string, readonly `${string}(${string})`[]>

const knownErrors: Abi = parseAbi(Object.values(KNOWN_ERRORS).flatMap((errors) => errors.map((one) => `error ${one}`)))

/** ABI of all errors with which vaults and tokens may revert: KNOWN_ERRORS and those in each protocol's ABI. */
export const REVERT_ERRORS: Abi = [
  ...knownErrors,
  ...Object.values(PROTOCOLS).flatMap(({ abi }) => abi.filter(({ type }) => type === 'error')),
]
