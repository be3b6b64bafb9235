// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonGetters} from "./LagoonGetters.sol";
import {LagoonWhitelist} from "./LagoonWhitelist.sol";

/// @title Vault like Lagoon 0.1
/// @notice It has no `version()`, and `maxMint` has no limit. The safe settles without repeating the valuation.
/// Requests made after the last proposal are lost when the vault closes.
contract LagoonVaultV01 is LagoonWhitelist, LagoonGetters {
    function settleDeposit() external {
        _settleDeposit(_ledger().newTotalAssets);
    }

    function settleRedeem() external {
        _settleRedeem(_ledger().newTotalAssets);
    }

    function close() external {
        _close(_ledger().newTotalAssets);
    }

    function _proposeAgain() internal pure override {}

    function depositEpochId() external view returns (uint40) {
        return _ledger().depositEpochId;
    }

    function redeemEpochId() external view returns (uint40) {
        return _ledger().redeemEpochId;
    }

    function epochSettleId(uint40 epochId) external view returns (uint40) {
        return _ledger().epochs[epochId].settleId;
    }

    function maxDeposit(address controller) external view returns (uint256) {
        return claimableDepositRequest(0, controller);
    }

    function maxMint(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function maxRedeem(address controller) external view returns (uint256) {
        return claimableRedeemRequest(0, controller);
    }

    function maxWithdraw(address controller) external view returns (uint256) {
        return convertToAssets(balanceOf(controller));
    }
}
