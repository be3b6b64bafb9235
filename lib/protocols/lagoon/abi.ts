import { parseAbi } from 'viem'
import { vaultAbi } from '../abi.ts'
import { requestAbi } from '../erc7540/abi.ts'

const ownAbi = parseAbi([
  'function version() view returns (string)',
  'function owner() view returns (address)',
  'function convertToShares(uint256 assets, uint256 requestId) view returns (uint256 shares)',
  'function convertToAssets(uint256 shares, uint256 requestId) view returns (uint256 assets)',
  'function isTotalAssetsValid() view returns (bool)',
  'function feeRates() view returns (uint16 management, uint16 performance, uint16 entry, uint16 exit, uint16 haircut)',
  'function isWhitelisted(address account) view returns (bool)',
  'function isAllowed(address account) view returns (bool)',
  'function pendingSilo() view returns (address)',
  'function safe() view returns (address)',
  'event DepositRequestCanceled(uint256 indexed requestId, address indexed controller)',
  'event DepositSync(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event RedeemRequestCanceled(uint256 indexed requestId, address indexed controller, uint256 shares)',
  'event WithdrawSync(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
  'event SettleDeposit(uint40 indexed epochId, uint40 indexed settledId, uint256 totalAssets, uint256 totalSupply, uint256 assetsDeposited, uint256 sharesMinted)',
  'event SettleRedeem(uint40 indexed epochId, uint40 indexed settledId, uint256 totalAssets, uint256 totalSupply, uint256 assetsWithdrawed, uint256 sharesBurned)',
  'event NewTotalAssetsUpdated(uint256 totalAssets)',
  'event TotalAssetsUpdated(uint256 totalAssets)',
])

/** ABI of Lagoon v0, versions 0.1 to 0.6. Each version lacks some of these functions. */
export const lagoonAbi = [...vaultAbi, ...requestAbi, ...ownAbi] as const

/** ABI of `feeRates` in versions before 0.6, in which the function returns only two rates. */
export const firstRatesAbi = parseAbi(['function feeRates() view returns (uint16 management, uint16 performance)'])
