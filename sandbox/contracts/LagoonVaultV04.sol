// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonClaimsForOthers} from "./LagoonClaimsForOthers.sol";
import {LagoonGetters} from "./LagoonGetters.sol";
import {LagoonWhitelist} from "./LagoonWhitelist.sol";

/// @title Vault like Lagoon 0.4, with deposits by request only
/// @notice It has getters for the silo and the last request ids.
contract LagoonVaultV04 is LagoonClaimsForOthers, LagoonWhitelist, LagoonGetters {
    function version() external pure returns (string memory) {
        return "v0.4.0";
    }
}
