// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {YieldVault} from "./YieldVault.sol";

/// @title ERC-4626 vault with an exit fee, as in OpenZeppelin's guide
/// @notice The previews and `maxWithdraw` include the fee, but the conversions do not. The owner receives the fee.
contract ExitFeeYieldVault is YieldVault {
    using Math for uint256;
    using SafeERC20 for IERC20;

    uint256 private constant BASIS_POINTS = 10_000;

    /// @notice The fee is in basis points of the assets that the user receives.
    uint256 public exitFee = 50;

    constructor(IERC20 asset_, string memory name_, string memory symbol_, address owner_)
        YieldVault(asset_, name_, symbol_, owner_)
    {}

    function setExitFee(uint256 basisPoints) external onlyOwner {
        exitFee = basisPoints;
    }

    function previewWithdraw(uint256 assets) public view override returns (uint256) {
        return super.previewWithdraw(assets + _feeOnPaid(assets));
    }

    function previewRedeem(uint256 shares) public view override returns (uint256) {
        uint256 assets = super.previewRedeem(shares);
        return assets - assets.mulDiv(exitFee, BASIS_POINTS + exitFee, Math.Rounding.Ceil);
    }

    function _withdraw(address caller, address receiver, address owner_, uint256 assets, uint256 shares)
        internal
        override
    {
        super._withdraw(caller, receiver, owner_, assets, shares);
        IERC20(asset()).safeTransfer(owner(), _feeOnPaid(assets));
    }

    function _feeOnPaid(uint256 assets) private view returns (uint256) {
        return assets.mulDiv(exitFee, BASIS_POINTS, Math.Rounding.Ceil);
    }
}
