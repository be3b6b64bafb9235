// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

import {RewardDistributor} from "./RewardDistributor.sol";

/// @title Reward token that misbehaves in the way that `harm` selects
/// @dev Anyone may mint and set `harm` because the chain is local.
contract HostileToken is ERC20 {
    enum Harm {
        None,
        /// A transfer consumes all gas.
        BurnsGas,
        /// The decimals change with every block.
        ChangesDecimals,
        /// A transfer calls the distributor's `claim` again.
        CallsBack,
        /// A transfer reverts.
        Reverts,
        /// A transfer returns true and moves nothing.
        MovesNothing
    }

    Harm public harm;

    constructor(Harm harm_) ERC20("Hostile Token", "HOSTILE") {
        harm = harm_;
    }

    function setHarm(Harm harm_) external {
        harm = harm_;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function decimals() public view override returns (uint8) {
        return harm == Harm.ChangesDecimals ? uint8(block.number % 256) : 18;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        if (harm == Harm.BurnsGas) {
            assembly {
                invalid()
            }
        }
        if (harm == Harm.CallsBack) {
            RewardDistributor(msg.sender).claim(new address[](0), new address[](0), new uint256[](0), new bytes32[][](0));
        }
        if (harm == Harm.Reverts) revert("HostileToken: no transfer");
        if (harm == Harm.MovesNothing) return true;
        return super.transfer(to, amount);
    }
}
