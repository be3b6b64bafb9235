// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {PendingSilo} from "./PendingSilo.sol";
import {YieldVault} from "./YieldVault.sol";

/// @title An ERC-4626 vault in the manner of Ethena's sUSDe: while it has a cooldown, `withdraw` and `redeem` revert.
/// @notice The way out is `cooldownShares`, which burns the shares and moves their assets to a silo, and after the
/// cooldown `unstake`. The limits do not tell: `maxRedeem` stays the balance.
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

    /// @notice In seconds; at 0 the vault pays at once.
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

    /// @notice Burns shares of the sender's, whose assets can be taken after the cooldown; another starts it anew for all.
    function cooldownShares(uint256 shares) external returns (uint256 assets) {
        if (cooldownDuration == 0) revert OperationNotAllowed();
        if (shares > maxRedeem(msg.sender)) revert ExcessiveRedeemAmount();
        assets = previewRedeem(shares);
        _cool(assets, shares);
    }

    /// @notice The same, by an amount of assets.
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
