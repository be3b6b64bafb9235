// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonSyncDeposit} from "./LagoonSyncDeposit.sol";
import {LagoonWhitelist} from "./LagoonWhitelist.sol";

/// @title Vault like Lagoon 0.5, with instant deposits while the valuation is valid
/// @notice It has no getters for the silo and the epochs, so readers load them from storage.
contract LagoonVaultV05 is LagoonSyncDeposit, LagoonWhitelist {
    function _requireMayDepositNow(address) internal view virtual override {
        if (!isWhitelisted(msg.sender)) revert NotWhitelisted();
    }

    function version() external pure virtual returns (string memory) {
        return "v0.5.0";
    }
}
