// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonGetters} from "./LagoonGetters.sol";
import {LagoonWhitelist} from "./LagoonWhitelist.sol";

/// @title A vault like Lagoon 0.1: no `version()`, the safe settles without repeating the valuation, `maxMint` has no
/// limit, and what is requested between the last proposal and the closing is lost.
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
