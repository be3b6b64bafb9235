// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonSettlement} from "./LagoonSettlement.sol";

/// @title Feature of Lagoon 0.4 and later: the safe claims shares on behalf of controllers
abstract contract LagoonClaimsForOthers is LagoonSettlement {
    function claimSharesOnBehalf(address[] calldata controllers) external onlySafe {
        for (uint256 i = 0; i < controllers.length; i++) {
            uint256 claimable = claimableDepositRequest(0, controllers[i]);
            if (claimable > 0) _claimDeposit(claimable, controllers[i], controllers[i]);
        }
    }
}
