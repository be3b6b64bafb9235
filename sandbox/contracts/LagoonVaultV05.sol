// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonSyncDeposit} from "./LagoonSyncDeposit.sol";
import {LagoonWhitelist} from "./LagoonWhitelist.sol";

/// @title A vault like Lagoon 0.5: deposits at once while the valuation stands; silo and epochs in storage only.
contract LagoonVaultV05 is LagoonSyncDeposit, LagoonWhitelist {
    function _requireMayDepositNow(address) internal view virtual override {
        if (!isWhitelisted(msg.sender)) revert NotWhitelisted();
    }

    function version() external pure virtual returns (string memory) {
        return "v0.5.0";
    }
}
