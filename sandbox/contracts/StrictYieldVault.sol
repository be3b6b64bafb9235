// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {YieldVault} from "./YieldVault.sol";

/// @title ERC-4626 vault in the style of Euler
/// @notice `redeem` reverts if the shares are worth no assets. It treats 2^256-1 as the whole balance. The shares have
/// six more decimals than the asset, so that a few smallest units are worth nothing.
contract StrictYieldVault is YieldVault {
    error E_ZeroAssets();

    constructor(IERC20 asset_, string memory name_, string memory symbol_, address owner_)
        YieldVault(asset_, name_, symbol_, owner_)
    {}

    function redeem(uint256 shares, address receiver, address owner_) public override returns (uint256 assets) {
        if (shares == type(uint256).max) shares = balanceOf(owner_);
        if (shares == 0) return 0;
        assets = super.redeem(shares, receiver, owner_);
        if (assets == 0) revert E_ZeroAssets();
    }

    function _decimalsOffset() internal pure override returns (uint8) {
        return 6;
    }
}
