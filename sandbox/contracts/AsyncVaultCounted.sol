// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";

import {AsyncVault} from "./AsyncVault.sol";

/// @title ERC-7540 vault that numbers its requests from 1
/// @notice Claims take no request id and use the oldest requests first. Its `Deposit` event has the claim's receiver
/// first and the controller second, against the standard. The standard's reference implementation and Centrifuge's
/// vaults before v3 use the same order.
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
