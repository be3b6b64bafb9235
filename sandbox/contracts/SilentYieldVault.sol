// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {IlliquidYieldVault} from "./IlliquidYieldVault.sol";

/// @title ERC-4626 vault in the style of Morpho Vault V2, whose limits are always 0
/// @notice Deposits and withdrawals ignore these limits. A transfer that exceeds the available assets reverts with the
/// asset's error.
contract SilentYieldVault is IlliquidYieldVault {
    /// @notice Clients recognise Morpho's vaults by this getter. The sandbox sets no adapter.
    address public constant liquidityAdapter = address(0);

    constructor(IERC20 asset_, string memory name_, string memory symbol_, address owner_)
        IlliquidYieldVault(asset_, name_, symbol_, owner_)
    {}

    function maxDeposit(address) public pure override returns (uint256) {
        return 0;
    }

    function maxMint(address) public pure override returns (uint256) {
        return 0;
    }

    function maxWithdraw(address) public pure override returns (uint256) {
        return 0;
    }

    function maxRedeem(address) public pure override returns (uint256) {
        return 0;
    }

    function deposit(uint256 assets, address receiver) public override returns (uint256 shares) {
        shares = previewDeposit(assets);
        _deposit(msg.sender, receiver, assets, shares);
    }

    function mint(uint256 shares, address receiver) public override returns (uint256 assets) {
        assets = previewMint(shares);
        _deposit(msg.sender, receiver, assets, shares);
    }

    function withdraw(uint256 assets, address receiver, address owner_) public override returns (uint256 shares) {
        shares = previewWithdraw(assets);
        _withdraw(msg.sender, receiver, owner_, assets, shares);
    }

    function redeem(uint256 shares, address receiver, address owner_) public override returns (uint256 assets) {
        assets = previewRedeem(shares);
        _withdraw(msg.sender, receiver, owner_, assets, shares);
    }
}
