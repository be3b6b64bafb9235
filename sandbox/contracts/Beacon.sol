// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {BeaconProxy} from "@openzeppelin/contracts/proxy/beacon/BeaconProxy.sol";
import {UpgradeableBeacon} from "@openzeppelin/contracts/proxy/beacon/UpgradeableBeacon.sol";

/// @title Beacon that stores the implementation address of its proxies
/// @notice The owner changes the implementation of all these proxies with one transaction.
contract Beacon is UpgradeableBeacon {
    constructor(address implementation, address owner) UpgradeableBeacon(implementation, owner) {}
}

/// @title Proxy that gets its implementation from a beacon, like Lagoon's first vaults
contract ProxyWithBeacon is BeaconProxy {
    constructor(address beacon, bytes memory data) BeaconProxy(beacon, data) {}
}
