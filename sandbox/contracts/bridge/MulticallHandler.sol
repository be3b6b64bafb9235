// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

/// @title Handler that executes the calls in a bridged deposit's message with the bridged tokens
/// @notice It reproduces the observed behaviour of Across's handler, not its source. Any account may call it, pool or
/// not. The first caller can therefore take all remaining balances and allowances.
contract MulticallHandler is ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    struct Call {
        address target;
        bytes callData;
        uint256 value;
    }

    /// @dev A fallback recipient receives the remaining tokens, and a failing call does not revert the fill. A zero
    /// fallback recipient makes a failing call revert the fill.
    struct Instructions {
        Call[] calls;
        address fallbackRecipient;
    }

    /// @dev The handler writes its balance of `token` into the calldata at the byte `offset`. The zero token means the
    /// native coin.
    struct Replacement {
        address token;
        uint256 offset;
    }

    event CallsFailed(Call[] calls, address indexed fallbackRecipient);
    event DrainedTokens(address indexed recipient, address indexed token, uint256 indexed amount);

    error CallReverted(uint256 index, Call[] calls);
    error InvalidCall(uint256 index, Call[] calls);
    error ReplacementCallFailed(bytes callData);
    error CalldataTooShort(uint256 callDataLength, uint256 offset);
    error NotSelf();

    modifier onlySelf() {
        if (msg.sender != address(this)) revert NotSelf();
        _;
    }

    receive() external payable {}

    function handleV3AcrossMessage(address token, uint256, address, bytes memory message) external nonReentrant {
        Instructions memory instructions = abi.decode(message, (Instructions));
        address fallbackRecipient = instructions.fallbackRecipient;
        if (fallbackRecipient == address(0)) {
            this.attemptCalls(instructions.calls);
            return;
        }
        // The call to itself reverts all calls together if one of them fails.
        try this.attemptCalls(instructions.calls) {}
        catch {
            emit CallsFailed(instructions.calls, fallbackRecipient);
        }
        _drain(token, payable(fallbackRecipient));
    }

    function attemptCalls(Call[] memory calls) external onlySelf {
        for (uint256 i = 0; i < calls.length; i++) {
            Call memory call = calls[i];
            // An account without code accepts any calldata and does nothing, which is surely a mistake.
            if (call.callData.length > 0 && call.target.code.length == 0) revert InvalidCall(i, calls);
            (bool success,) = call.target.call{value: call.value}(call.callData);
            if (!success) revert CallReverted(i, calls);
        }
    }

    /// @notice Calls `target` with the handler's balances in the calldata. A message makes this call with the handler
    /// as its target.
    /// @dev The 32 bytes at each offset must be zero, because the balance is OR-ed into them.
    function makeCallWithBalance(
        address target,
        bytes memory callData,
        uint256 value,
        Replacement[] calldata replacement
    ) external onlySelf {
        for (uint256 i = 0; i < replacement.length; i++) {
            (address token, uint256 offset) = (replacement[i].token, replacement[i].offset);
            if (callData.length < offset + 32) revert CalldataTooShort(callData.length, offset);
            uint256 held;
            if (token == address(0)) {
                held = address(this).balance;
                value = held;
            } else {
                held = IERC20(token).balanceOf(address(this));
            }
            assembly ("memory-safe") {
                let place := add(add(callData, 32), offset)
                mstore(place, or(mload(place), held))
            }
        }
        (bool success,) = target.call{value: value}(callData);
        if (!success) revert ReplacementCallFailed(callData);
    }

    /// @notice Sends the handler's remaining balance of any token. A message makes this call with the handler as its
    /// target.
    function drainLeftoverTokens(address token, address payable destination) external onlySelf {
        _drain(token, destination);
    }

    function _drain(address token, address payable destination) private {
        uint256 amount = token == address(0) ? address(this).balance : IERC20(token).balanceOf(address(this));
        if (amount == 0) return;
        if (token == address(0)) {
            (bool success,) = destination.call{value: amount}("");
            if (!success) revert ReplacementCallFailed("");
        } else {
            IERC20(token).safeTransfer(destination, amount);
        }
        emit DrainedTokens(destination, token, amount);
    }
}
