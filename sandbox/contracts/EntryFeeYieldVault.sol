// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {ExitFeeYieldVault} from "./ExitFeeYieldVault.sol";

/// @title ERC-4626 vault with entry and exit fees
/// @notice The previews include the fees, but the conversions do not. The owner receives the fees.
contract EntryFeeYieldVault is ExitFeeYieldVault {
    using Math for uint256;
    using SafeERC20 for IERC20;

    /// @notice The fee is in basis points of the assets that the user pays.
    uint256 public constant ENTRY_FEE = 25;

    constructor(IERC20 asset_, string memory name_, string memory symbol_, address owner_)
        ExitFeeYieldVault(asset_, name_, symbol_, owner_)
    {}

    function previewDeposit(uint256 assets) public view override returns (uint256) {
        return super.previewDeposit(assets - _feeOnDeposit(assets));
    }

    function previewMint(uint256 shares) public view override returns (uint256) {
        return super.previewMint(shares).mulDiv(10_000, 10_000 - ENTRY_FEE, Math.Rounding.Ceil);
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        super._deposit(caller, receiver, assets, shares);
        IERC20(asset()).safeTransfer(owner(), _feeOnDeposit(assets));
    }

    function _feeOnDeposit(uint256 assets) private pure returns (uint256) {
        return assets.mulDiv(ENTRY_FEE, 10_000, Math.Rounding.Ceil);
    }
}
