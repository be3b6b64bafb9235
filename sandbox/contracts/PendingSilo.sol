// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title Where a Lagoon-like vault keeps what is requested and not yet settled.
/// @notice Its balance of the asset is what deposits are pending; its balance of shares, what redemptions are pending.
contract PendingSilo {
    constructor(IERC20 asset) {
        // The vault that creates the silo takes the assets out again, at settlement or when a request is cancelled.
        SafeERC20.forceApprove(asset, msg.sender, type(uint256).max);
    }
}
