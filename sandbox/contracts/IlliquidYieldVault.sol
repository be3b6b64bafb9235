// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {YieldVault} from "./YieldVault.sol";

/// @title ERC-4626 vault that lends its assets, like MetaMorpho, Euler and Aave
/// @notice Users cannot withdraw lent assets. `maxRedeem` and `maxWithdraw` count only the assets in the vault, rounded
/// down. Larger amounts revert with OpenZeppelin's errors.
contract IlliquidYieldVault is YieldVault {
    using SafeERC20 for IERC20;

    uint256 public lent;

    constructor(IERC20 asset_, string memory name_, string memory symbol_, address owner_)
        YieldVault(asset_, name_, symbol_, owner_)
    {}

    /// @notice Lends assets to the owner. `totalAssets` still counts them.
    function lend(uint256 assets) external onlyOwner {
        lent += assets;
        IERC20(asset()).safeTransfer(msg.sender, assets);
    }

    /// @notice Takes lent assets back from the owner, who must approve the vault first.
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
