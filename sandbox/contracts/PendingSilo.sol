// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title Silo that holds the assets and shares of a Lagoon-like vault's unsettled requests
/// @notice Its asset balance is the total of pending deposits. Its share balance is the total of pending redemptions.
/// `CooldownYieldVault` also uses it, for assets in cooldown.
contract PendingSilo {
    constructor(IERC20 asset) {
        // The vault that creates the silo moves the assets out again, for example at settlement.
        SafeERC20.forceApprove(asset, msg.sender, type(uint256).max);
    }
}
