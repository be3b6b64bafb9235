import { parseAbi } from 'viem'

/**
 * ABI of the functions that vaults of all protocols share: ERC-4626, ERC-7575 and OpenZeppelin's pause. It also has `liquidityAdapter`, a
 * getter that only Morpho's vaults have.
 */
export const vaultAbi = parseAbi([
  'function asset() view returns (address)',
  'function share() view returns (address)',
  'function totalAssets() view returns (uint256)',
  'function convertToAssets(uint256 shares) view returns (uint256 assets)',
  'function convertToShares(uint256 assets) view returns (uint256 shares)',
  'function maxDeposit(address receiver) view returns (uint256 assets)',
  'function maxWithdraw(address owner) view returns (uint256 assets)',
  'function maxRedeem(address owner) view returns (uint256 shares)',
  'function previewWithdraw(uint256 assets) view returns (uint256 shares)',
  'function previewDeposit(uint256 assets) view returns (uint256 shares)',
  'function previewRedeem(uint256 shares) view returns (uint256 assets)',
  'function paused() view returns (bool)',
  'function liquidityAdapter() view returns (address)',
  'function supportsInterface(bytes4 interfaceId) view returns (bool)',
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
])
