// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";

import {AsyncRedemptionVault} from "./AsyncRedemptionVault.sol";

/// @title ERC-7540 vault in the style of Centrifuge's SyncDepositVault
/// @notice Deposits are instant, and redemptions are by request. Its `Deposit` event has the receiver of the shares
/// first and the payer second, against ERC-4626.
contract SyncDepositVault is AsyncRedemptionVault {
    constructor(IERC20Metadata asset_, string memory name_, string memory symbol_, address manager_)
        AsyncRedemptionVault(asset_, name_, symbol_, manager_)
    {}

    function _emitDeposit(address payer, address receiver, uint256 assets, uint256 shares) internal override {
        emit Deposit(receiver, payer, assets, shares);
    }
}
