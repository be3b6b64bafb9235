// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {YieldVault} from "./YieldVault.sol";

/// @title ERC-4626 vault with a daily deposit limit
/// @notice `maxDeposit` is 0 once the day's deposits reach the limit. A new day starts at 00:00 UTC.
contract DailyLimitYieldVault is YieldVault {
    uint256 public dailyLimit = type(uint256).max;

    mapping(uint256 day => uint256) private _depositedOn;

    constructor(IERC20 asset_, string memory name_, string memory symbol_, address owner_)
        YieldVault(asset_, name_, symbol_, owner_)
    {}

    function setDailyLimit(uint256 limit) external onlyOwner {
        dailyLimit = limit;
    }

    function maxDeposit(address receiver) public view override returns (uint256) {
        uint256 left = dailyLimit - Math.min(dailyLimit, _depositedOn[block.timestamp / 1 days]);
        return Math.min(super.maxDeposit(receiver), left);
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        super._deposit(caller, receiver, assets, shares);
        _depositedOn[block.timestamp / 1 days] += assets;
    }
}
