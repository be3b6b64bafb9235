import { parseAbi } from 'viem'
import { vaultAbi } from '../abi.ts'

/** ABI of the functions and events of requests (https://eips.ethereum.org/EIPS/eip-7540) that Lagoon's vaults have too. */
export const requestAbi = parseAbi([
  'function pendingDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)',
  'function claimableDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)',
  'function maxMint(address controller) view returns (uint256 shares)',
  'function pendingRedeemRequest(uint256 requestId, address controller) view returns (uint256 shares)',
  'function claimableRedeemRequest(uint256 requestId, address controller) view returns (uint256 shares)',
  'event DepositRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets)',
  'event RedeemRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares)',
])

const ownAbi = parseAbi([
  'function pendingCancelDepositRequest(uint256 requestId, address controller) view returns (bool isPending)',
  'function claimableCancelDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)',
  'function pendingCancelRedeemRequest(uint256 requestId, address controller) view returns (bool isPending)',
  'function claimableCancelRedeemRequest(uint256 requestId, address controller) view returns (uint256 shares)',
  'event CancelDepositClaim(address indexed controller, address indexed receiver, uint256 indexed requestId, address sender, uint256 assets)',
  'event CancelRedeemClaim(address indexed controller, address indexed receiver, uint256 indexed requestId, address sender, uint256 shares)',
])

/**
 * ABI of asynchronous vaults with requests (https://eips.ethereum.org/EIPS/eip-7540) and cancellations
 * (https://eips.ethereum.org/EIPS/eip-7887).
 */
export const erc7540Abi = [...vaultAbi, ...requestAbi, ...ownAbi] as const

/** View functions that return the state of an account's requests with one id, by kind of request. */
export const REQUEST_VIEW_NAMES = {
  deposit: {
    pending: 'pendingDepositRequest',
    claimable: 'claimableDepositRequest',
    isCancelling: 'pendingCancelDepositRequest',
    cancelled: 'claimableCancelDepositRequest',
  },
  withdrawal: {
    pending: 'pendingRedeemRequest',
    claimable: 'claimableRedeemRequest',
    isCancelling: 'pendingCancelRedeemRequest',
    cancelled: 'claimableCancelRedeemRequest',
  },
} as const
