// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title Vault of a fictional protocol that sells bonds at a fixed price
/// @notice It follows neither ERC-4626 nor ERC-7540. It stands for protocols that the project may support later. Only a
/// test deploys it.
contract Bond is ERC20 {
    IERC20 public immutable asset;
    /// @notice A bond's smallest unit costs this many of the asset's smallest units.
    uint256 public immutable issuePrice;

    event Bought(address indexed holder, address indexed buyer, uint256 paid, uint256 bonds);

    error LessThanOneBond(uint256 paid);

    constructor(IERC20 asset_, uint256 issuePrice_) ERC20("Bond", "BND") {
        asset = asset_;
        issuePrice = issuePrice_;
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function buy(uint256 paid, address holder) external {
        uint256 bonds = paid / issuePrice;
        if (bonds == 0) revert LessThanOneBond(paid);
        asset.transferFrom(msg.sender, address(this), paid);
        _mint(holder, bonds);
        emit Bought(holder, msg.sender, paid, bonds);
    }
}
