// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {AsyncRedemptions} from "./AsyncRedemptions.sol";

/// @title ERC-7540 vault in the style of Superform v2, with instant deposits and redemptions by request
/// @notice The vault is its own share token and uses the asset's decimals. The controller of a request must be its
/// owner. An operator may claim only to the controller. Cancellation follows ERC-7887, but `supportsInterface` does not
/// report it. The first two arguments of `CancelRedeemClaim` are swapped: the receiver comes before the controller.
contract AsyncRedemptionVault is AsyncRedemptions, ERC20 {
    using SafeERC20 for IERC20;

    uint8 private immutable _decimals;

    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);

    error ZERO_AMOUNT();
    error INVALID_AMOUNT();
    error INVALID_CONTROLLER();
    error CONTROLLER_MUST_EQUAL_OWNER();
    error RECEIVER_MUST_EQUAL_CONTROLLER();
    error NOT_IMPLEMENTED();

    constructor(IERC20Metadata asset_, string memory name_, string memory symbol_, address manager_)
        AsyncRedemptions(asset_, manager_, asset_.decimals())
        ERC20(name_, symbol_)
    {
        _decimals = asset_.decimals();
    }

    // --------------------------------------------------------------------------------------------- Instant deposits

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        shares = convertToShares(assets);
        _deposit(assets, shares, receiver);
    }

    function mint(uint256 shares, address receiver) external returns (uint256 assets) {
        assets = previewMint(shares);
        _deposit(assets, shares, receiver);
    }

    function _deposit(uint256 assets, uint256 shares, address receiver) private {
        if (shares == 0) revert ZERO_AMOUNT();
        IERC20(asset).safeTransferFrom(msg.sender, manager, assets);
        _mint(receiver, shares);
        _emitDeposit(msg.sender, receiver, assets, shares);
    }

    function _emitDeposit(address payer, address receiver, uint256 assets, uint256 shares) internal virtual {
        emit Deposit(payer, receiver, assets, shares);
    }

    function previewDeposit(uint256 assets) external view returns (uint256 shares) {
        return convertToShares(assets);
    }

    function previewMint(uint256 shares) public view returns (uint256 assets) {
        return _toAssets(shares, price, Math.Rounding.Ceil);
    }

    function maxDeposit(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function maxMint(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    // ----------------------------------------------------------------------------------------------------- Redemptions

    function requestRedeem(uint256 shares, address controller, address owner) public override returns (uint256) {
        if (shares == 0) revert ZERO_AMOUNT();
        _requireOperatorOf(owner);
        if (balanceOf(owner) < shares) revert INVALID_AMOUNT();
        if (controller != owner) revert CONTROLLER_MUST_EQUAL_OWNER();
        return super.requestRedeem(shares, controller, owner);
    }

    function _requireOperatorOf(address controller) internal view override {
        if (msg.sender != controller && !isOperator[controller][msg.sender]) revert INVALID_CONTROLLER();
    }

    function _requireMayClaim(address receiver, address controller) internal view override {
        super._requireMayClaim(receiver, controller);
        _requireCancellationReceiver(receiver, controller);
    }

    function _requireCancellationReceiver(address receiver, address controller) internal view override {
        if (msg.sender != controller && receiver != controller) revert RECEIVER_MUST_EQUAL_CONTROLLER();
    }

    function _emitCancelRedeemClaim(address receiver, address controller, uint256 requestId, uint256 shares)
        internal
        override
    {
        emit CancelRedeemClaim(receiver, controller, requestId, msg.sender, shares);
    }

    function previewRedeem(uint256) external pure override returns (uint256) {
        revert NOT_IMPLEMENTED();
    }

    function previewWithdraw(uint256) external pure override returns (uint256) {
        revert NOT_IMPLEMENTED();
    }

    // ----------------------------------------------------------------------------------------------------- Share token

    function share() public view override returns (address) {
        return address(this);
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    function _mintShares(address to, uint256 shares) internal override {
        _mint(to, shares);
    }

    function _burnShares(address from, uint256 shares) internal override {
        _burn(from, shares);
    }

    function _moveShares(address spender, address from, address to, uint256 shares) internal override {
        if (spender != from) _spendAllowance(from, spender, shares);
        _transfer(from, to, shares);
    }

    function _isAllowed(address) internal pure override returns (bool) {
        return true;
    }
}
