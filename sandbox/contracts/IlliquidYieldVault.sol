// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {YieldVault} from "./YieldVault.sol";

/// @title An ERC-4626 vault that lends, standing for MetaMorpho, Euler and Aave: what is lent cannot be withdrawn.
/// @notice `maxRedeem` and `maxWithdraw` count what is there, rounded down; more is refused with OpenZeppelin's errors.
contract IlliquidYieldVault is YieldVault {
    using SafeERC20 for IERC20;

    uint256 public lent;

    constructor(IERC20 asset_, string memory name_, string memory symbol_, address owner_)
        YieldVault(asset_, name_, symbol_, owner_)
    {}

    /// @notice Gives assets to the owner, who still owes them to the vault.
    function lend(uint256 assets) external onlyOwner {
        lent += assets;
        IERC20(asset()).safeTransfer(msg.sender, assets);
    }

    /// @notice Takes assets back from the owner, by its allowance.
    function repay(uint256 assets) external onlyOwner {
        lent -= assets;
        IERC20(asset()).safeTransferFrom(msg.sender, address(this), assets);
    }

    function totalAssets() public view override returns (uint256) {
        return super.totalAssets() + lent;
    }

    function maxRedeem(address owner_) public view virtual override returns (uint256) {
        return Math.min(super.maxRedeem(owner_), convertToShares(super.totalAssets()));
    }
}
