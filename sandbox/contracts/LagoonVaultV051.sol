// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonVaultBase} from "./LagoonVaultBase.sol";
import {LagoonVaultV05} from "./LagoonVaultV05.sol";
import {LagoonWhitelist} from "./LagoonWhitelist.sol";

/// @title Vault like Lagoon 0.5.1, with more whitelist checks than 0.5
/// @notice A request checks its owner and its controller. A claim checks its receiver and its controller. An instant
/// deposit checks its sender and its receiver. A cancellation checks the controller.
contract LagoonVaultV051 is LagoonVaultV05 {
    function _requireMayRequest(address owner_, address controller)
        internal
        view
        override(LagoonVaultBase, LagoonWhitelist)
    {
        if (controller == address(0)) revert InvalidController(controller);
        _requireWhitelisted(owner_, controller);
    }

    function _requireMayClaim(address receiver, address controller) internal view override {
        _requireWhitelisted(receiver, controller);
    }

    function _requireMayDepositNow(address receiver) internal view override {
        _requireWhitelisted(msg.sender, receiver);
    }

    function _requireWhitelisted(address one, address other) private view {
        if (!isWhitelisted(one) || !isWhitelisted(other)) revert NotWhitelisted();
    }

    function version() external pure override returns (string memory) {
        return "v0.5.1";
    }
}
