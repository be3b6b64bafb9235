// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonVaultV06} from "./LagoonVaultV06.sol";

/// @title Lagoon-like vault with a version that does not exist yet
/// @notice Tests use it to check the service's handling of unknown versions.
contract LagoonVaultUnknown is LagoonVaultV06 {
    function version() external pure override returns (string memory) {
        return "v0.7.0";
    }
}
