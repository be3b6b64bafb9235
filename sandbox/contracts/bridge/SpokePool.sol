// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {SpokePoolSignals} from "./SpokePoolSignals.sol";

/// @notice A pool calls this function on a recipient contract if the deposit carries a message.
interface IMessageReceiver {
    function handleV3AcrossMessage(address token, uint256 amount, address relayer, bytes calldata message) external;
}

/// @notice This token wraps the native coin.
interface IWrappedCoin {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

/// @title Bridge pool that takes deposits on the origin chain and fills them on the destination chain
/// @notice It reproduces the observed behaviour of Across's pools, not their source. Selectors, events, errors and
/// their order match, so that a client cannot tell the difference. The operator vouches for slow fills, so they need no
/// Merkle proof.
/// @dev The sandbox writes the code directly to an address, so the contract has no constructor and no immutables.
contract SpokePool is SpokePoolSignals, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice A quote may be at most this many seconds old at the deposit.
    uint32 public constant depositQuoteTimeBuffer = 3600;
    /// @notice A fill deadline may be at most this many seconds after the deposit.
    uint32 public constant fillDeadlineBuffer = 21_600;
    /// @notice The operator executes slow fills, stores the roots of bundles and pauses the pool. It is the relayer of
    /// the local chains.
    address public constant OPERATOR = 0xa0Ee7A142d267C1f36714E4a8F75612F20a79720;

    bytes4 private constant UNSAFE_DEPOSIT = bytes4(
        keccak256(
            "unsafeDeposit(bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,bytes32,uint256,uint32,uint32,uint32,bytes)"
        )
    );
    /// @notice A depositor signs this EIP-712 type to change how a deposit is filled. The domain has the chain id of
    /// the origin chain.
    bytes32 public constant UPDATE_BYTES32_DEPOSIT_DETAILS_HASH = keccak256(
        "UpdateDepositDetails(uint256 depositId,uint256 originChainId,uint256 updatedOutputAmount,bytes32 updatedRecipient,bytes updatedMessage)"
    );
    // The domain has no contract address, so that the pools of both chains accept the same signature.
    bytes32 private constant DOMAIN_TYPE = keccak256("EIP712Domain(string name,string version,uint256 chainId)");
    bytes32 private constant DOMAIN_NAME = keccak256("ACROSS-V2");
    bytes32 private constant DOMAIN_VERSION = keccak256("1.0.0");
    // Exclusivity parameters up to one year are periods in seconds. Larger ones are timestamps.
    uint32 private constant LONGEST_EXCLUSIVITY = 31_536_000;
    uint256 private constant UNFILLED = 0;
    uint256 private constant SLOW_FILL_REQUESTED = 1;
    uint256 private constant FILLED = 2;

    /// @notice The pool chose the ids of this many deposits. The next such deposit receives this number as its id.
    uint32 public numberOfDeposits;
    bool public pausedDeposits;
    bool public pausedFills;
    /// @notice The pool holds the native coin as this token. The zero address means that it takes no native coin.
    address public wrappedNativeToken;
    /// @notice A relay hash maps to 0 (not filled), 1 (slow fill requested) or 2 (filled).
    mapping(bytes32 relayHash => uint256) public fillStatuses;
    /// @notice The index of a root bundle is its id.
    RootBundle[] public rootBundles;
    mapping(uint32 rootBundleId => mapping(uint32 leafId => bool)) private _claimed;
    mapping(address token => mapping(address account => uint256)) private _deferred;

    struct RootBundle {
        bytes32 slowRelayRoot;
        bytes32 relayerRefundRoot;
    }

    struct UnsafeDeposit {
        bytes32 depositor;
        bytes32 recipient;
        bytes32 inputToken;
        bytes32 outputToken;
        uint256 inputAmount;
        uint256 outputAmount;
        uint256 destinationChainId;
        bytes32 exclusiveRelayer;
        uint256 depositNonce;
        uint32 quoteTimestamp;
        uint32 fillDeadline;
        uint32 exclusivityParameter;
        bytes message;
    }

    modifier onlyOperator() {
        if (msg.sender != OPERATOR) revert InvalidMerkleProof();
        _;
    }

    modifier whenDepositsRun() {
        if (pausedDeposits) revert DepositsArePaused();
        _;
    }

    modifier whenFillsRun() {
        if (pausedFills) revert FillsArePaused();
        _;
    }

    /// @notice Accepts the native coin that the wrapped token pays out.
    receive() external payable {}

    // ------------------------------------------------------------------------------------------------------- Deposits

    function deposit(
        bytes32 depositor,
        bytes32 recipient,
        bytes32 inputToken,
        bytes32 outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 destinationChainId,
        bytes32 exclusiveRelayer,
        uint32 quoteTimestamp,
        uint32 fillDeadline,
        uint32 exclusivityParameter,
        bytes memory message
    ) public payable nonReentrant whenDepositsRun {
        Deposit memory made;
        made.depositor = depositor;
        made.recipient = recipient;
        made.inputToken = inputToken;
        made.outputToken = outputToken;
        made.inputAmount = inputAmount;
        made.outputAmount = outputAmount;
        made.destinationChainId = destinationChainId;
        made.exclusiveRelayer = exclusiveRelayer;
        made.quoteTimestamp = quoteTimestamp;
        made.fillDeadline = fillDeadline;
        made.exclusivityDeadline = exclusivityParameter;
        made.message = message;
        made.depositId = numberOfDeposits++;
        _take(made);
    }

    function depositV3(
        address depositor,
        address recipient,
        address inputToken,
        address outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 destinationChainId,
        address exclusiveRelayer,
        uint32 quoteTimestamp,
        uint32 fillDeadline,
        uint32 exclusivityParameter,
        bytes memory message
    ) external payable {
        deposit(
            _word(depositor),
            _word(recipient),
            _word(inputToken),
            _word(outputToken),
            inputAmount,
            outputAmount,
            destinationChainId,
            _word(exclusiveRelayer),
            quoteTimestamp,
            fillDeadline,
            exclusivityParameter,
            message
        );
    }

    /// @notice Deposits with the current time as quote time. The fill deadline is `fillDeadlineOffset` seconds later.
    function depositNow(
        bytes32 depositor,
        bytes32 recipient,
        bytes32 inputToken,
        bytes32 outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 destinationChainId,
        bytes32 exclusiveRelayer,
        uint32 fillDeadlineOffset,
        uint32 exclusivityParameter,
        bytes memory message
    ) external payable {
        deposit(
            depositor,
            recipient,
            inputToken,
            outputToken,
            inputAmount,
            outputAmount,
            destinationChainId,
            exclusiveRelayer,
            uint32(getCurrentTime()),
            uint32(getCurrentTime()) + fillDeadlineOffset,
            exclusivityParameter,
            message
        );
    }

    function depositV3Now(
        address depositor,
        address recipient,
        address inputToken,
        address outputToken,
        uint256 inputAmount,
        uint256 outputAmount,
        uint256 destinationChainId,
        address exclusiveRelayer,
        uint32 fillDeadlineOffset,
        uint32 exclusivityParameter,
        bytes memory message
    ) external payable {
        deposit(
            _word(depositor),
            _word(recipient),
            _word(inputToken),
            _word(outputToken),
            inputAmount,
            outputAmount,
            destinationChainId,
            _word(exclusiveRelayer),
            uint32(getCurrentTime()),
            uint32(getCurrentTime()) + fillDeadlineOffset,
            exclusivityParameter,
            message
        );
    }

    /// @notice Handles `unsafeDeposit`. The depositor can compute the id beforehand with `getUnsafeDepositId`.
    /// @dev The parameters exceed the stack limit, so the function reads them directly from calldata.
    fallback() external payable nonReentrant whenDepositsRun {
        if (msg.sig != UNSAFE_DEPOSIT) revert();
        UnsafeDeposit calldata asked;
        assembly {
            asked := 4
        }
        Deposit memory made;
        made.depositor = asked.depositor;
        made.recipient = asked.recipient;
        made.inputToken = asked.inputToken;
        made.outputToken = asked.outputToken;
        made.inputAmount = asked.inputAmount;
        made.outputAmount = asked.outputAmount;
        made.destinationChainId = asked.destinationChainId;
        made.exclusiveRelayer = asked.exclusiveRelayer;
        made.quoteTimestamp = asked.quoteTimestamp;
        made.fillDeadline = asked.fillDeadline;
        made.exclusivityDeadline = asked.exclusivityParameter;
        made.message = asked.message;
        made.depositId = getUnsafeDepositId(msg.sender, asked.depositor, asked.depositNonce);
        _take(made);
    }

    function getUnsafeDepositId(address sender, bytes32 depositor, uint256 depositNonce)
        public
        pure
        returns (uint256)
    {
        return uint256(keccak256(abi.encodePacked(sender, depositor, depositNonce)));
    }

    function _take(Deposit memory made) private {
        _address(made.depositor);
        if (made.outputToken == bytes32(0)) revert InvalidOutputToken();

        uint256 time = getCurrentTime();
        if (made.quoteTimestamp > time || time - made.quoteTimestamp > depositQuoteTimeBuffer) {
            revert InvalidQuoteTimestamp();
        }
        if (made.fillDeadline > time + fillDeadlineBuffer) revert InvalidFillDeadline();
        if (made.exclusivityDeadline > 0) {
            if (made.exclusiveRelayer == bytes32(0)) revert InvalidExclusiveRelayer();
            if (made.exclusivityDeadline <= LONGEST_EXCLUSIVITY) made.exclusivityDeadline += uint32(time);
        }
        // The pool does not check the destination, like the real pool. A deposit to an unknown destination is stranded.
        address token = _address(made.inputToken);
        if (msg.value == 0) {
            IERC20(token).safeTransferFrom(msg.sender, address(this), made.inputAmount);
        } else {
            if (token != wrappedNativeToken || msg.value != made.inputAmount) revert MsgValueDoesNotMatchInputAmount();
            IWrappedCoin(token).deposit{value: msg.value}();
        }
        _emitDeposit(made);
    }

    /// @notice Tells relayers that the depositor accepts a smaller amount, another recipient or another message.
    /// Relayers may ignore it.
    function speedUpDeposit(
        bytes32 depositor,
        uint256 depositId,
        uint256 updatedOutputAmount,
        bytes32 updatedRecipient,
        bytes calldata updatedMessage,
        bytes calldata depositorSignature
    ) public nonReentrant {
        Execution memory execution = Execution(updatedRecipient, updatedOutputAmount, updatedMessage);
        _checkSignature(depositor, depositId, block.chainid, execution, depositorSignature);
        emit RequestedSpeedUpDeposit(
            updatedOutputAmount, depositId, depositor, updatedRecipient, updatedMessage, depositorSignature
        );
    }

    function speedUpV3Deposit(
        address depositor,
        uint256 depositId,
        uint256 updatedOutputAmount,
        address updatedRecipient,
        bytes calldata updatedMessage,
        bytes calldata depositorSignature
    ) external {
        speedUpDeposit(
            _word(depositor),
            depositId,
            updatedOutputAmount,
            _word(updatedRecipient),
            updatedMessage,
            depositorSignature
        );
    }

    function _checkSignature(
        bytes32 depositor,
        uint256 depositId,
        uint256 originChainId,
        Execution memory execution,
        bytes memory signature
    ) private view {
        bytes32 signed = MessageHashUtils.toTypedDataHash(
            keccak256(abi.encode(DOMAIN_TYPE, DOMAIN_NAME, DOMAIN_VERSION, originChainId)),
            keccak256(
                abi.encode(
                    UPDATE_BYTES32_DEPOSIT_DETAILS_HASH,
                    depositId,
                    originChainId,
                    execution.amount,
                    execution.recipient,
                    keccak256(execution.message)
                )
            )
        );
        if (!SignatureChecker.isValidSignatureNow(_address(depositor), signed, signature)) {
            revert InvalidDepositorSignature();
        }
    }

    // ---------------------------------------------------------------------------------------------------------- Fills

    function fillRelay(V3RelayData calldata relayData, uint256 repaymentChainId, bytes32 repaymentAddress)
        external
        nonReentrant
        whenFillsRun
    {
        if (_isExclusive(relayData) && _word(msg.sender) != relayData.exclusiveRelayer) revert NotExclusiveRelayer();
        Execution memory execution = Execution(relayData.recipient, relayData.outputAmount, relayData.message);
        _fill(relayData, execution, repaymentChainId, repaymentAddress, false);
    }

    /// @notice Fills a deposit with values that the depositor signed later. The fill counts for the original deposit.
    function fillRelayWithUpdatedDeposit(
        V3RelayData calldata relayData,
        uint256 repaymentChainId,
        bytes32 repaymentAddress,
        uint256 updatedOutputAmount,
        bytes32 updatedRecipient,
        bytes calldata updatedMessage,
        bytes calldata depositorSignature
    ) external nonReentrant whenFillsRun {
        if (_isExclusive(relayData) && _word(msg.sender) != relayData.exclusiveRelayer) revert NotExclusiveRelayer();
        Execution memory execution = Execution(updatedRecipient, updatedOutputAmount, updatedMessage);
        _checkSignature(
            relayData.depositor, relayData.depositId, relayData.originChainId, execution, depositorSignature
        );
        _fill(relayData, execution, repaymentChainId, repaymentAddress, false);
    }

    /// @notice Asks the pool to fill the deposit later from its own tokens. The operator chooses the amount.
    function requestSlowFill(V3RelayData calldata relayData) external nonReentrant whenFillsRun {
        if (_isExclusive(relayData)) revert NoSlowFillsInExclusivityWindow();
        if (relayData.fillDeadline < getCurrentTime()) revert ExpiredFillDeadline();
        bytes32 relayHash = getV3RelayHash(relayData);
        if (fillStatuses[relayHash] != UNFILLED) revert InvalidSlowFillRequest();
        fillStatuses[relayHash] = SLOW_FILL_REQUESTED;
        _emitSlowFillRequest(relayData);
    }

    /// @notice Fills a deposit from the pool's own tokens. The relayer in the event is zero, because nobody is repaid.
    function executeSlowRelayLeaf(V3SlowFill calldata slowFillLeaf, uint32, bytes32[] calldata)
        external
        nonReentrant
        onlyOperator
    {
        if (slowFillLeaf.chainId != block.chainid) revert InvalidMerkleProof();
        V3RelayData calldata relayData = slowFillLeaf.relayData;
        Execution memory execution =
            Execution(relayData.recipient, slowFillLeaf.updatedOutputAmount, relayData.message);
        _fill(relayData, execution, 0, bytes32(0), true);
    }

    function _fill(
        V3RelayData calldata relayData,
        Execution memory execution,
        uint256 repaymentChainId,
        bytes32 relayer,
        bool isSlow
    ) private {
        if (relayData.fillDeadline < getCurrentTime()) revert ExpiredFillDeadline();
        bytes32 relayHash = getV3RelayHash(relayData);
        uint256 status = fillStatuses[relayHash];
        if (status == FILLED) revert RelayFilled();
        fillStatuses[relayHash] = FILLED;

        FillType fillType = isSlow
            ? FillType.SlowFill
            : status == SLOW_FILL_REQUESTED ? FillType.ReplacedSlowFill : FillType.FastFill;
        // The fill event precedes the token transfers, so that all other events of the fill follow it.
        _emitFill(relayData, repaymentChainId, relayer, execution, fillType);

        address recipient = _address(execution.recipient);
        address token = _address(relayData.outputToken);
        if (token == wrappedNativeToken && recipient.code.length == 0) {
            // A recipient without code receives the native coin.
            if (!isSlow) IERC20(token).safeTransferFrom(msg.sender, address(this), execution.amount);
            IWrappedCoin(token).withdraw(execution.amount);
            (bool success,) = recipient.call{value: execution.amount}("");
            require(success);
        } else if (isSlow) {
            IERC20(token).safeTransfer(recipient, execution.amount);
        } else {
            IERC20(token).safeTransferFrom(msg.sender, recipient, execution.amount);
        }

        if (recipient.code.length > 0 && execution.message.length > 0) {
            IMessageReceiver(recipient).handleV3AcrossMessage(token, execution.amount, msg.sender, execution.message);
        }
    }

    function _isExclusive(V3RelayData calldata relayData) private view returns (bool) {
        return relayData.exclusivityDeadline >= getCurrentTime();
    }

    function getV3RelayHash(V3RelayData memory relayData) public view returns (bytes32) {
        return keccak256(abi.encode(relayData, block.chainid));
    }

    // -------------------------------------------------------------------------------------------------------- Refunds

    /// @notice Stores the Merkle roots that prove the leaves of a bundle. The id is the number of earlier bundles.
    function relayRootBundle(bytes32 relayerRefundRoot, bytes32 slowRelayRoot) external onlyOperator {
        emit RelayedRootBundle(uint32(rootBundles.length), relayerRefundRoot, slowRelayRoot);
        rootBundles.push(RootBundle(slowRelayRoot, relayerRefundRoot));
    }

    /// @notice Repays relayers, and refunds depositors whose deposits expired. Anyone may call it.
    /// @dev It reverts if the pool holds too little. A token that rejects one account does not block the others. The
    /// pool keeps the amount of the rejected account, and the event sets `deferredRefunds` for the whole leaf.
    function executeRelayerRefundLeaf(
        uint32 rootBundleId,
        RelayerRefundLeaf calldata relayerRefundLeaf,
        bytes32[] calldata proof
    ) external payable nonReentrant {
        uint32 leafId = relayerRefundLeaf.leafId;
        if (relayerRefundLeaf.chainId != block.chainid) revert InvalidChainId();
        bytes32 root = rootBundles[rootBundleId].relayerRefundRoot;
        if (!MerkleProof.verifyCalldata(proof, root, keccak256(abi.encode(relayerRefundLeaf)))) {
            revert InvalidMerkleProof();
        }
        if (_claimed[rootBundleId][leafId]) revert ClaimedMerkleLeaf();
        _claimed[rootBundleId][leafId] = true;

        bool deferredRefunds = _payOut(relayerRefundLeaf);
        emit ExecutedRelayerRefundRoot(
            relayerRefundLeaf.amountToReturn,
            block.chainid,
            relayerRefundLeaf.refundAmounts,
            rootBundleId,
            leafId,
            relayerRefundLeaf.l2TokenAddress,
            relayerRefundLeaf.refundAddresses,
            deferredRefunds,
            msg.sender
        );
    }

    function _payOut(RelayerRefundLeaf calldata leaf) private returns (bool deferred) {
        uint256[] calldata amounts = leaf.refundAmounts;
        address[] calldata accounts = leaf.refundAddresses;
        if (accounts.length != amounts.length) revert InvalidMerkleLeaf();
        address token = leaf.l2TokenAddress;
        uint256 left = IERC20(token).balanceOf(address(this));
        for (uint256 i = 0; i < amounts.length; i++) {
            if (amounts[i] == 0) continue;
            if (amounts[i] > left) revert InsufficientSpokePoolBalanceToExecuteLeaf();
            left -= amounts[i];
            if (!IERC20(token).trySafeTransfer(accounts[i], amounts[i])) {
                _deferred[token][accounts[i]] += amounts[i];
                deferred = true;
            }
        }
    }

    /// @notice Pays the caller's deferred refund to `refundAddress`.
    function claimRelayerRefund(bytes32 l2TokenAddress, bytes32 refundAddress) external {
        address token = _address(l2TokenAddress);
        uint256 amount = _deferred[token][msg.sender];
        if (amount == 0) revert NoRelayerRefundToClaim();
        _deferred[token][msg.sender] = 0;
        IERC20(token).safeTransfer(_address(refundAddress), amount);
        emit ClaimedRelayerRefund(l2TokenAddress, refundAddress, amount, msg.sender);
    }

    function getRelayerRefund(address l2TokenAddress, address refundAddress) external view returns (uint256) {
        return _deferred[l2TokenAddress][refundAddress];
    }

    // ------------------------------------------------------------------------------------------------ Other functions

    /// @notice Executes several calls in one transaction. All revert if one reverts.
    function multicall(bytes[] calldata data) external returns (bytes[] memory results) {
        results = new bytes[](data.length);
        for (uint256 i = 0; i < data.length; i++) {
            (bool success, bytes memory result) = address(this).delegatecall(data[i]);
            if (!success) {
                assembly ("memory-safe") {
                    revert(add(result, 32), mload(result))
                }
            }
            results[i] = result;
        }
    }

    function pauseDeposits(bool pause) external onlyOperator {
        pausedDeposits = pause;
        emit PausedDeposits(pause);
    }

    function pauseFills(bool pause) external onlyOperator {
        pausedFills = pause;
        emit PausedFills(pause);
    }

    function chainId() external view returns (uint256) {
        return block.chainid;
    }

    function getCurrentTime() public view returns (uint256) {
        return block.timestamp;
    }
}
