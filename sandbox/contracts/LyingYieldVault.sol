// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {YieldVault} from "./YieldVault.sol";

/// @title ERC-4626 vault that breaks its promises in the way that `lie` selects
contract LyingYieldVault is YieldVault {
    enum Lie {
        None,
        /// Deposits mint half of the shares that the preview promises.
        DepositPreview,
        /// Redemptions pay half of the assets that the preview promises.
        RedeemPreview,
        /// Deposits mint no shares.
        NoShares,
        /// The shares of a deposit go to the vault's owner.
        SharesElsewhere,
        /// `supportsInterface` reports ERC-7540 redemption requests, but redemptions pay instantly.
        RequestsByName,
        /// Redemptions burn the shares and pay nothing.
        PaysNothing
    }

    Lie public lie;

    constructor(IERC20 asset_, string memory name_, string memory symbol_, address owner_)
        YieldVault(asset_, name_, symbol_, owner_)
    {}

    function setLie(Lie lie_) external onlyOwner {
        lie = lie_;
    }

    function supportsInterface(bytes4 interfaceId) external view returns (bool) {
        return lie == Lie.RequestsByName && interfaceId == 0x620ee8e4;
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        if (lie == Lie.DepositPreview) shares /= 2;
        if (lie == Lie.NoShares) shares = 0;
        super._deposit(caller, lie == Lie.SharesElsewhere ? owner() : receiver, assets, shares);
    }

    function _withdraw(address caller, address receiver, address owner_, uint256 assets, uint256 shares)
        internal
        override
    {
        if (lie == Lie.RedeemPreview) assets /= 2;
        if (lie == Lie.PaysNothing) assets = 0;
        super._withdraw(caller, receiver, owner_, assets, shares);
    }
}
