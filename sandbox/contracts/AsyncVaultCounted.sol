// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";

import {AsyncVault} from "./AsyncVault.sol";

/// @title An ERC-7540 vault that gives every request an id of its own, from 1 up; claims, which name no id, take the
/// oldest first.
/// @notice Its `Deposit` names the receiver of a claim first and the controller second, against the standard, as the
/// standard's reference implementation and Centrifuge's vaults before v3 do.
contract AsyncVaultCounted is AsyncVault {
    uint256 public lastRequestId;

    constructor(
        IERC20Metadata asset_,
        string memory name,
        string memory symbol,
        uint8 shareDecimals,
        address manager_
    ) AsyncVault(asset_, name, symbol, shareDecimals, manager_) {}

    function _nextRequestId() internal override returns (uint256) {
        return ++lastRequestId;
    }

    function _requestIdOf(uint256 requestId) internal pure override returns (uint256) {
        return requestId;
    }

    function _emitDeposit(address controller, address receiver, uint256 assets, uint256 shares) internal override {
        emit Deposit(receiver, controller, assets, shares);
    }
}
