import { parseAbi } from 'viem'

/** ERC-4626 and ERC-7575, with OpenZeppelin's errors and pause. */
export const erc4626Abi = parseAbi([
  'function asset() view returns (address)',
  'function share() view returns (address)',
  'function totalAssets() view returns (uint256)',
  'function convertToAssets(uint256 shares) view returns (uint256 assets)',
  'function convertToShares(uint256 assets) view returns (uint256 shares)',
  'function maxDeposit(address receiver) view returns (uint256 assets)',
  'function deposit(uint256 assets, address receiver) returns (uint256 shares)',
  'function paused() view returns (bool)',
  'function supportsInterface(bytes4 interfaceId) view returns (bool)',
  'error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)',
  'error EnforcedPause()',
])

/** ERC-165 id of an asynchronous deposit vault (ERC-7540). */
export const ASYNC_DEPOSIT_INTERFACE = '0xce3bbe50'

/** Lagoon v0 vaults: one ABI over all versions 0.1 to 0.6; a version lacks what it does not have. */
export const lagoonAbi = parseAbi([
  'function version() view returns (string)',
  'function owner() view returns (address)',
  'function requestDeposit(uint256 assets, address controller, address owner) payable returns (uint256 requestId)',
  'function syncDeposit(uint256 assets, address receiver, address referral) payable returns (uint256 shares)',
  'function deposit(uint256 assets, address receiver, address controller) returns (uint256 shares)',
  'function pendingDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)',
  'function claimableDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)',
  'function maxMint(address controller) view returns (uint256 shares)',
  'function pendingRedeemRequest(uint256 requestId, address controller) view returns (uint256 shares)',
  'function claimableRedeemRequest(uint256 requestId, address controller) view returns (uint256 shares)',
  'function maxWithdraw(address controller) view returns (uint256 assets)',
  'function convertToShares(uint256 assets, uint256 requestId) view returns (uint256 shares)',
  'function convertToAssets(uint256 shares, uint256 requestId) view returns (uint256 assets)',
  'function isTotalAssetsValid() view returns (bool)',
  'function isWhitelisted(address account) view returns (bool)',
  'function isAllowed(address account) view returns (bool)',
  'function pendingSilo() view returns (address)',
  'function safe() view returns (address)',
  'error OnlyOneRequestAllowed()',
  'error OnlySyncDepositAllowed()',
  'error OnlyAsyncDepositAllowed()',
  'error TotalAssetsExpired()',
  'error RequestIdNotClaimable()',
  'error MaxCapReached()',
  'error NotWhitelisted()',
  'error AddressNotAllowed(address account)',
  'error NotOpen(uint8 state)',
  'error Closed()',
  'error ERC7540InvalidOperator()',
  'error InvalidController(address controller)',
  'error GuardrailsViolation()',
])
