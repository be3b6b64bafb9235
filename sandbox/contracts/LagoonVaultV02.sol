// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonGetters} from "./LagoonGetters.sol";
import {LagoonSettlement} from "./LagoonSettlement.sol";
import {LagoonWhitelist} from "./LagoonWhitelist.sol";

/// @title Vault like Lagoon 0.2
/// @notice It equals 0.4, except that it has no `version()` and the safe cannot claim for controllers.
contract LagoonVaultV02 is LagoonSettlement, LagoonWhitelist, LagoonGetters {}
