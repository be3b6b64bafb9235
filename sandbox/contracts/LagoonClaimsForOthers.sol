// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonSettlement} from "./LagoonSettlement.sol";

/// @title What 0.4 added: the safe may claim shares for their owners.
abstract contract LagoonClaimsForOthers is LagoonSettlement {
    function claimSharesOnBehalf(address[] calldata controllers) external onlySafe {
        for (uint256 i = 0; i < controllers.length; i++) {
            uint256 claimable = claimableDepositRequest(0, controllers[i]);
            if (claimable > 0) _claimDeposit(claimable, controllers[i], controllers[i]);
        }
    }
}
