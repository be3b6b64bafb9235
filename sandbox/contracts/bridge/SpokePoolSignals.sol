// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Structs, errors and events of the bridge pool
/// @notice `LegacySpokePool` emits older events with the same content.
abstract contract SpokePoolSignals {
    /// @dev A fill must match this data of the deposit. Accounts and tokens are bytes32, because some chains have
    /// addresses longer than 20 bytes.
    struct V3RelayData {
        bytes32 depositor;
        bytes32 recipient;
        bytes32 exclusiveRelayer;
        bytes32 inputToken;
        bytes32 outputToken;
        uint256 inputAmount;
        uint256 outputAmount;
        uint256 originChainId;
        uint256 depositId;
        uint32 fillDeadline;
        uint32 exclusivityDeadline;
        bytes message;
    }

    struct V3SlowFill {
        V3RelayData relayData;
        uint256 chainId;
        uint256 updatedOutputAmount;
    }

    struct RelayerRefundLeaf {
        uint256 amountToReturn;
        uint256 chainId;
        uint256[] refundAmounts;
        uint32 leafId;
        address l2TokenAddress;
        address[] refundAddresses;
    }

    /// @dev `ReplacedSlowFill` means that a relayer filled before the requested slow fill.
    enum FillType {
        FastFill,
        ReplacedSlowFill,
        SlowFill
    }

    /// @dev The values of a fill come from the deposit, a later signed update or a slow fill leaf.
    struct Execution {
        bytes32 recipient;
        uint256 amount;
        bytes message;
    }

    struct V3RelayExecutionEventInfo {
        bytes32 updatedRecipient;
        bytes32 updatedMessageHash;
        uint256 updatedOutputAmount;
        FillType fillType;
    }

    struct Deposit {
        bytes32 depositor;
        bytes32 recipient;
        bytes32 inputToken;
        bytes32 outputToken;
        uint256 inputAmount;
        uint256 outputAmount;
        uint256 destinationChainId;
        uint256 depositId;
        bytes32 exclusiveRelayer;
        uint32 quoteTimestamp;
        uint32 fillDeadline;
        uint32 exclusivityDeadline;
        bytes message;
    }

    error InvalidQuoteTimestamp();
    error InvalidFillDeadline();
    error InvalidExclusiveRelayer();
    error InvalidOutputToken();
    error InvalidAddress();
    error MsgValueDoesNotMatchInputAmount();
    error DepositsArePaused();
    error FillsArePaused();
    error NotExclusiveRelayer();
    error NoSlowFillsInExclusivityWindow();
    error RelayFilled();
    error InvalidSlowFillRequest();
    error ExpiredFillDeadline();
    error InvalidMerkleProof();
    error InvalidMerkleLeaf();
    error InvalidChainId();
    error ClaimedMerkleLeaf();
    error InvalidDepositorSignature();
    error InsufficientSpokePoolBalanceToExecuteLeaf();
    error NoRelayerRefundToClaim();

    event FundsDeposited(
        bytes32 inputToken,
        bytes32 outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 indexed destinationChainId,
        uint256 indexed depositId,
        uint32 quoteTimestamp,
        uint32 fillDeadline,
        uint32 exclusivityDeadline,
        bytes32 indexed depositor,
        bytes32 recipient,
        bytes32 exclusiveRelayer,
        bytes message
    );
    event FilledRelay(
        bytes32 inputToken,
        bytes32 outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 repaymentChainId,
        uint256 indexed originChainId,
        uint256 indexed depositId,
        uint32 fillDeadline,
        uint32 exclusivityDeadline,
        bytes32 exclusiveRelayer,
        bytes32 indexed relayer,
        bytes32 depositor,
        bytes32 recipient,
        bytes32 messageHash,
        V3RelayExecutionEventInfo relayExecutionInfo
    );
    event RequestedSpeedUpDeposit(
        uint256 updatedOutputAmount,
        uint256 indexed depositId,
        bytes32 indexed depositor,
        bytes32 updatedRecipient,
        bytes updatedMessage,
        bytes depositorSignature
    );
    event RequestedSlowFill(
        bytes32 inputToken,
        bytes32 outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 indexed originChainId,
        uint256 indexed depositId,
        uint32 fillDeadline,
        uint32 exclusivityDeadline,
        bytes32 exclusiveRelayer,
        bytes32 depositor,
        bytes32 recipient,
        bytes32 messageHash
    );
    event ExecutedRelayerRefundRoot(
        uint256 amountToReturn,
        uint256 indexed chainId,
        uint256[] refundAmounts,
        uint32 indexed rootBundleId,
        uint32 indexed leafId,
        address l2TokenAddress,
        address[] refundAddresses,
        bool deferredRefunds,
        address caller
    );
    event RelayedRootBundle(
        uint32 indexed rootBundleId, bytes32 indexed relayerRefundRoot, bytes32 indexed slowRelayRoot
    );
    /// @dev The refund belonged to `caller` and went to `refundAddress`.
    event ClaimedRelayerRefund(
        bytes32 indexed l2TokenAddress, bytes32 indexed refundAddress, uint256 amount, address indexed caller
    );
    event PausedDeposits(bool isPaused);
    event PausedFills(bool isPaused);

    function _emitDeposit(Deposit memory made) internal virtual {
        emit FundsDeposited(
            made.inputToken,
            made.outputToken,
            made.inputAmount,
            made.outputAmount,
            made.destinationChainId,
            made.depositId,
            made.quoteTimestamp,
            made.fillDeadline,
            made.exclusivityDeadline,
            made.depositor,
            made.recipient,
            made.exclusiveRelayer,
            made.message
        );
    }

    function _emitFill(
        V3RelayData memory relayData,
        uint256 repaymentChainId,
        bytes32 relayer,
        Execution memory execution,
        FillType fillType
    ) internal virtual {
        // The arguments exceed the stack limit. All are static, so the two encodings joined equal the full encoding.
        bytes memory data = bytes.concat(
            abi.encode(
                relayData.inputToken,
                relayData.outputToken,
                relayData.inputAmount,
                relayData.outputAmount,
                repaymentChainId,
                relayData.fillDeadline,
                relayData.exclusivityDeadline
            ),
            abi.encode(
                relayData.exclusiveRelayer,
                relayData.depositor,
                relayData.recipient,
                _hashOf(relayData.message),
                V3RelayExecutionEventInfo(
                    execution.recipient, _hashOf(execution.message), execution.amount, fillType
                )
            )
        );
        _log(data, FilledRelay.selector, relayData.originChainId, relayData.depositId, relayer);
    }

    function _log(bytes memory data, bytes32 topic, uint256 originChainId, uint256 depositId, bytes32 relayer)
        internal
    {
        assembly ("memory-safe") {
            log4(add(data, 32), mload(data), topic, originChainId, depositId, relayer)
        }
    }

    function _emitSlowFillRequest(V3RelayData memory relayData) internal {
        emit RequestedSlowFill(
            relayData.inputToken,
            relayData.outputToken,
            relayData.inputAmount,
            relayData.outputAmount,
            relayData.originChainId,
            relayData.depositId,
            relayData.fillDeadline,
            relayData.exclusivityDeadline,
            relayData.exclusiveRelayer,
            relayData.depositor,
            relayData.recipient,
            _hashOf(relayData.message)
        );
    }

    function _word(address account) internal pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }

    function _address(bytes32 word) internal pure returns (address) {
        if (uint256(word) > type(uint160).max) revert InvalidAddress();
        return address(uint160(uint256(word)));
    }

    function _hashOf(bytes memory message) private pure returns (bytes32) {
        return message.length == 0 ? bytes32(0) : keccak256(message);
    }
}
