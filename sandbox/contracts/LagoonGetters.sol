// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonVaultBase} from "./LagoonVaultBase.sol";

/// @title Base of Lagoon 0.1 to 0.4, with deposits by request only and additional getters
/// @notice Lagoon removed these getters in 0.5, because the contract's code became too large.
abstract contract LagoonGetters is LagoonVaultBase {
    function _valuationStands() internal pure override returns (bool) {
        return false;
    }

    function _renewValuation() internal override {}

    function pendingSilo() external view returns (address) {
        return _ledger().pendingSilo;
    }

    function lastDepositRequestId(address controller) external view returns (uint40) {
        return _ledger().lastDepositRequestId[controller];
    }

    function lastRedeemRequestId(address controller) external view returns (uint40) {
        return _ledger().lastRedeemRequestId[controller];
    }

    function lastFeeTime() external view returns (uint256) {
        return _fees().lastFeeTime;
    }

    function highWaterMark() external view returns (uint256) {
        return _fees().highWaterMark;
    }

    function isWhitelistActivated() external view returns (bool) {
        return _access().accessMode == AccessMode.Whitelist;
    }
}
