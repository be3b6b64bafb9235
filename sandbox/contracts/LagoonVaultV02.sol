// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonGetters} from "./LagoonGetters.sol";
import {LagoonSettlement} from "./LagoonSettlement.sol";
import {LagoonWhitelist} from "./LagoonWhitelist.sol";

/// @title A vault like Lagoon 0.2: what 0.4 is, but nobody claims shares for others, and there is no `version()`.
contract LagoonVaultV02 is LagoonSettlement, LagoonWhitelist, LagoonGetters {}
