// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC1967Utils} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Utils.sol";
import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";

/// @title Upgradeable proxy of a Lagoon-like vault
/// @notice Real Lagoon vaults are proxies, so a vault's version can change at the same address. The admin upgrades this
/// proxy instantly with `upgradeTo`. Real upgrades take effect after some days.
contract Proxy is ERC1967Proxy {
    error OnlyAdmin(address admin);

    constructor(address implementation, address admin, bytes memory data) ERC1967Proxy(implementation, data) {
        ERC1967Utils.changeAdmin(admin);
    }

    /// @notice Replaces the vault's code and keeps its storage.
    function upgradeTo(address implementation) external {
        address admin = ERC1967Utils.getAdmin();
        if (msg.sender != admin) revert OnlyAdmin(admin);
        ERC1967Utils.upgradeToAndCall(implementation, "");
    }

    receive() external payable {
        _fallback();
    }
}
