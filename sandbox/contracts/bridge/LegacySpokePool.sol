// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SpokePool} from "./SpokePool.sol";

/// @title Bridge pool that emits the events from before addresses became bytes32
/// @notice Deposits and fills are the same as in `SpokePool`. The sandbox installs it at a pool's address to create
/// events that current pools no longer emit.
contract LegacySpokePool is SpokePool {
    struct LegacyExecutionInfo {
        address updatedRecipient;
        bytes updatedMessage;
        uint256 updatedOutputAmount;
        FillType fillType;
    }

    struct LegacyFill {
        address inputToken;
        address outputToken;
        uint256 inputAmount;
        uint256 outputAmount;
        uint256 repaymentChainId;
        uint32 fillDeadline;
        uint32 exclusivityDeadline;
        address exclusiveRelayer;
        address depositor;
        address recipient;
        bytes message;
        LegacyExecutionInfo relayExecutionInfo;
    }

    event V3FundsDeposited(
        address inputToken,
        address outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 indexed destinationChainId,
        uint32 indexed depositId,
        uint32 quoteTimestamp,
        uint32 fillDeadline,
        uint32 exclusivityDeadline,
        address indexed depositor,
        address recipient,
        address exclusiveRelayer,
        bytes message
    );
    event FilledV3Relay(
        address inputToken,
        address outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 repaymentChainId,
        uint256 indexed originChainId,
        uint32 indexed depositId,
        uint32 fillDeadline,
        uint32 exclusivityDeadline,
        address exclusiveRelayer,
        address indexed relayer,
        address depositor,
        address recipient,
        bytes message,
        LegacyExecutionInfo relayExecutionInfo
    );

    function _emitDeposit(Deposit memory made) internal override {
        emit V3FundsDeposited(
            _address(made.inputToken),
            _address(made.outputToken),
            made.inputAmount,
            made.outputAmount,
            made.destinationChainId,
            uint32(made.depositId),
            made.quoteTimestamp,
            made.fillDeadline,
            made.exclusivityDeadline,
            _address(made.depositor),
            _address(made.recipient),
            _address(made.exclusiveRelayer),
            made.message
        );
    }

    function _emitFill(
        V3RelayData memory relayData,
        uint256 repaymentChainId,
        bytes32 relayer,
        Execution memory execution,
        FillType fillType
    ) internal override {
        LegacyFill memory fill;
        fill.inputToken = _address(relayData.inputToken);
        fill.outputToken = _address(relayData.outputToken);
        fill.inputAmount = relayData.inputAmount;
        fill.outputAmount = relayData.outputAmount;
        fill.repaymentChainId = repaymentChainId;
        fill.fillDeadline = relayData.fillDeadline;
        fill.exclusivityDeadline = relayData.exclusivityDeadline;
        fill.exclusiveRelayer = _address(relayData.exclusiveRelayer);
        fill.depositor = _address(relayData.depositor);
        fill.recipient = _address(relayData.recipient);
        fill.message = relayData.message;
        fill.relayExecutionInfo = LegacyExecutionInfo(
            _address(execution.recipient), execution.message, execution.amount, fillType
        );
        bytes memory data = abi.encode(fill);
        // Event data has no offset word. The encoding of a dynamic struct starts with one, so this removes it.
        assembly ("memory-safe") {
            let length := sub(mload(data), 32)
            data := add(data, 32)
            mstore(data, length)
        }
        _log(data, FilledV3Relay.selector, relayData.originChainId, uint32(relayData.depositId), relayer);
    }
}
