// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {YieldVault} from "./YieldVault.sol";

/// @title ERC-4626 vault that accepts deposits but never pays out
/// @notice `maxWithdraw` and `maxRedeem` do not show this.
contract NoExitYieldVault is YieldVault {
    error Locked();

    constructor(IERC20 asset_, string memory name_, string memory symbol_, address owner_)
        YieldVault(asset_, name_, symbol_, owner_)
    {}

    function withdraw(uint256, address, address) public pure override returns (uint256) {
        revert Locked();
    }

    function redeem(uint256, address, address) public pure override returns (uint256) {
        revert Locked();
    }
}
