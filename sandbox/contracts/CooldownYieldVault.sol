// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {PendingSilo} from "./PendingSilo.sol";
import {YieldVault} from "./YieldVault.sol";

/// @title ERC-4626 vault in the style of Ethena's sUSDe, with a cooldown before withdrawals
/// @notice `withdraw` and `redeem` revert while the cooldown is longer than 0 seconds. Users instead call
/// `cooldownShares`, which burns shares and moves their assets to a silo. `unstake` pays the assets after the cooldown.
/// The limits ignore the cooldown: `maxRedeem` remains the full balance.
contract CooldownYieldVault is YieldVault {
    using SafeERC20 for IERC20;

    struct Cooldown {
        uint104 cooldownEnd;
        uint152 underlyingAmount;
    }

    event CooldownDurationUpdated(uint24 previousDuration, uint24 newDuration);

    error OperationNotAllowed();
    error ExcessiveRedeemAmount();
    error ExcessiveWithdrawAmount();
    error InvalidCooldown();

    /// @notice The cooldown lasts this many seconds. The value 0 enables instant `withdraw` and `redeem`.
    uint24 public cooldownDuration = 7 days;
    mapping(address account => Cooldown) public cooldowns;
    PendingSilo public immutable silo;

    constructor(IERC20 asset_, string memory name_, string memory symbol_, address owner_)
        YieldVault(asset_, name_, symbol_, owner_)
    {
        silo = new PendingSilo(asset_);
    }

    function setCooldownDuration(uint24 duration) external onlyOwner {
        emit CooldownDurationUpdated(cooldownDuration, duration);
        cooldownDuration = duration;
    }

    function withdraw(uint256 assets, address receiver, address owner_) public override returns (uint256) {
        if (cooldownDuration > 0) revert OperationNotAllowed();
        return super.withdraw(assets, receiver, owner_);
    }

    function redeem(uint256 shares, address receiver, address owner_) public override returns (uint256) {
        if (cooldownDuration > 0) revert OperationNotAllowed();
        return super.redeem(shares, receiver, owner_);
    }

    /// @notice Burns the caller's shares and starts the cooldown of their assets. A later call restarts the cooldown
    /// for all the caller's assets.
    function cooldownShares(uint256 shares) external returns (uint256 assets) {
        if (cooldownDuration == 0) revert OperationNotAllowed();
        if (shares > maxRedeem(msg.sender)) revert ExcessiveRedeemAmount();
        assets = previewRedeem(shares);
        _cool(assets, shares);
    }

    /// @notice Does the same as `cooldownShares` for the shares that are worth `assets`.
    function cooldownAssets(uint256 assets) external returns (uint256 shares) {
        if (cooldownDuration == 0) revert OperationNotAllowed();
        if (assets > maxWithdraw(msg.sender)) revert ExcessiveWithdrawAmount();
        shares = previewWithdraw(assets);
        _cool(assets, shares);
    }

    function _cool(uint256 assets, uint256 shares) private {
        Cooldown storage cooldown = cooldowns[msg.sender];
        cooldown.cooldownEnd = uint104(block.timestamp) + cooldownDuration;
        cooldown.underlyingAmount += uint152(assets);
        _withdraw(msg.sender, address(silo), msg.sender, assets, shares);
    }

    function unstake(address receiver) external {
        Cooldown memory cooldown = cooldowns[msg.sender];
        if (block.timestamp < cooldown.cooldownEnd && cooldownDuration > 0) revert InvalidCooldown();
        delete cooldowns[msg.sender];
        IERC20(asset()).safeTransferFrom(address(silo), receiver, cooldown.underlyingAmount);
    }
}
