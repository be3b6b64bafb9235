import { parseAbi } from 'viem'

/**
 * ABI of ERC-4626 and of the sandbox's synchronous vaults. Written independently, so that it can reveal mistakes in the tested
 * ABI.
 */
export const YIELD_VAULT_ABI = parseAbi([
  'function deposit(uint256 assets, address receiver) returns (uint256 shares)',
  'function mint(uint256 shares, address receiver) returns (uint256 assets)',
  'function withdraw(uint256 assets, address receiver, address owner) returns (uint256 shares)',
  'function redeem(uint256 shares, address receiver, address owner) returns (uint256 assets)',
  'function maxDeposit(address receiver) view returns (uint256 assets)',
  'function maxMint(address receiver) view returns (uint256 shares)',
  'function maxWithdraw(address owner) view returns (uint256 assets)',
  'function maxRedeem(address owner) view returns (uint256 shares)',
  'function previewWithdraw(uint256 assets) view returns (uint256 shares)',
  'function previewRedeem(uint256 shares) view returns (uint256 assets)',
  'function convertToAssets(uint256 shares) view returns (uint256 assets)',
  'function convertToShares(uint256 assets) view returns (uint256 shares)',
  'function totalAssets() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
  'error ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)',
  'error ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  // Functions of a vault that lends its assets
  'function lend(uint256 assets)',
  'function repay(uint256 assets)',
  // Functions of Morpho Vault V2
  'function liquidityAdapter() view returns (address)',
  // Functions of sUSDe, Ethena's vault with a cooldown
  'function cooldownDuration() view returns (uint24)',
  'function setCooldownDuration(uint24 duration)',
  'function cooldowns(address account) view returns (uint104 cooldownEnd, uint152 underlyingAmount)',
  'function silo() view returns (address)',
  'function cooldownShares(uint256 shares) returns (uint256 assets)',
  'function cooldownAssets(uint256 assets) returns (uint256 shares)',
  'function unstake(address receiver)',
  'error OperationNotAllowed()',
  'error ExcessiveRedeemAmount()',
  'error ExcessiveWithdrawAmount()',
  'error InvalidCooldown()',
  // Functions of a vault with a fee on withdrawals
  'function setExitFee(uint256 basisPoints)',
  // Errors of Euler vaults
  'error E_ZeroAssets()',
])
