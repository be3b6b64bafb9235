// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonVaultV06} from "./LagoonVaultV06.sol";

/// @title A vault of a version that does not exist yet, for what the service does when it meets one.
contract LagoonVaultUnknown is LagoonVaultV06 {
    function version() external pure override returns (string memory) {
        return "v0.7.0";
    }
}
