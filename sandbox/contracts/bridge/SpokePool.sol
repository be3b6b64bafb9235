// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {SpokePoolSignals} from "./SpokePoolSignals.sol";

/// @notice What a pool calls on a recipient that is a contract, when the deposit carries a message.
interface IMessageReceiver {
    function handleV3AcrossMessage(address token, uint256 amount, address relayer, bytes calldata message) external;
}

/// @notice The chain's coin as a token.
interface IWrappedCoin {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

/// @title The bridge's pool: takes deposits on the origin chain, and hands out fills on the destination.
/// @notice Written from the observed behaviour of Across's pools, not from their source: same selectors, events,
/// errors and order of things, so that a client cannot tell the difference. Slow fills are not proved by the root of a
/// bundle: the operator vouches for them.
/// @dev Its code is put at an address, so it has neither a constructor nor immutables.
contract SpokePool is SpokePoolSignals, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice How old a quote may be at the deposit, in seconds.
    uint32 public constant depositQuoteTimeBuffer = 3600;
    /// @notice How far ahead of the deposit its deadline may be, in seconds.
    uint32 public constant fillDeadlineBuffer = 21_600;
    /// @notice Executes slow fills, brings the roots of bundles, and pauses: the relayer of the local chains.
    address public constant OPERATOR = 0xa0Ee7A142d267C1f36714E4a8F75612F20a79720;

    bytes4 private constant UNSAFE_DEPOSIT = bytes4(
        keccak256(
            "unsafeDeposit(bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,bytes32,uint256,uint32,uint32,uint32,bytes)"
        )
    );
    /// @notice What a depositor signs to have a deposit filled in another way, for the domain of the origin's chain id.
    bytes32 public constant UPDATE_BYTES32_DEPOSIT_DETAILS_HASH = keccak256(
        "UpdateDepositDetails(uint256 depositId,uint256 originChainId,uint256 updatedOutputAmount,bytes32 updatedRecipient,bytes updatedMessage)"
    );
    // Without the pool's address: the pools of both chains accept one signature.
    bytes32 private constant DOMAIN_TYPE = keccak256("EIP712Domain(string name,string version,uint256 chainId)");
    bytes32 private constant DOMAIN_NAME = keccak256("ACROSS-V2");
    bytes32 private constant DOMAIN_VERSION = keccak256("1.0.0");
    // Up to a year it is a period, above it a time.
    uint32 private constant LONGEST_EXCLUSIVITY = 31_536_000;
    uint256 private constant UNFILLED = 0;
    uint256 private constant SLOW_FILL_REQUESTED = 1;
    uint256 private constant FILLED = 2;

    /// @notice How many deposits had the pool choose their id; the id of the next such one.
    uint32 public numberOfDeposits;
    bool public pausedDeposits;
    bool public pausedFills;
    /// @notice The token as which the pool takes and holds the chain's coin; zero where it takes no coin.
    address public wrappedNativeToken;
    /// @notice By relay hash: 0 not filled, 1 slow fill requested, 2 filled.
    mapping(bytes32 relayHash => uint256) public fillStatuses;
    /// @notice The roots of the bundles that were brought here, by their id.
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

    /// @notice Takes the coin that the wrapped token pays out.
    receive() external payable {}

    // ------------------------------------------------------------------------------------------------------- deposits

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

    /// @notice A deposit as of now, with its deadline `fillDeadlineOffset` seconds ahead.
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

    /// @notice `unsafeDeposit`: a deposit whose id the depositor knows beforehand, by `getUnsafeDepositId`.
    /// @dev Its parameters are more than the stack holds, so they are read where they lie.
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
        // Where it goes is not checked, as the real pool does not: a deposit to nowhere is stranded.
        address token = _address(made.inputToken);
        if (msg.value == 0) {
            IERC20(token).safeTransferFrom(msg.sender, address(this), made.inputAmount);
        } else {
            if (token != wrappedNativeToken || msg.value != made.inputAmount) revert MsgValueDoesNotMatchInputAmount();
            IWrappedCoin(token).deposit{value: msg.value}();
        }
        _emitDeposit(made);
    }

    /// @notice Tells relayers that the depositor takes less, elsewhere or with another message. Nobody must follow it.
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

    // ---------------------------------------------------------------------------------------------------------- fills

    function fillRelay(V3RelayData calldata relayData, uint256 repaymentChainId, bytes32 repaymentAddress)
        external
        nonReentrant
        whenFillsRun
    {
        if (_isExclusive(relayData) && _word(msg.sender) != relayData.exclusiveRelayer) revert NotExclusiveRelayer();
        Execution memory execution = Execution(relayData.recipient, relayData.outputAmount, relayData.message);
        _fill(relayData, execution, repaymentChainId, repaymentAddress, false);
    }

    /// @notice A fill as the depositor agreed to since. It is the same deposit's, which is filled by it.
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

    /// @notice Asks that the pool itself fills, later and with an amount of its own choice.
    function requestSlowFill(V3RelayData calldata relayData) external nonReentrant whenFillsRun {
        if (_isExclusive(relayData)) revert NoSlowFillsInExclusivityWindow();
        if (relayData.fillDeadline < getCurrentTime()) revert ExpiredFillDeadline();
        bytes32 relayHash = getV3RelayHash(relayData);
        if (fillStatuses[relayHash] != UNFILLED) revert InvalidSlowFillRequest();
        fillStatuses[relayHash] = SLOW_FILL_REQUESTED;
        _emitSlowFillRequest(relayData);
    }

    /// @notice A fill from the pool's own tokens. Nobody is repaid, so the relayer in its event is zero.
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
        // Before the tokens move: everything that a fill causes stands behind its event.
        _emitFill(relayData, repaymentChainId, relayer, execution, fillType);

        address recipient = _address(execution.recipient);
        address token = _address(relayData.outputToken);
        if (token == wrappedNativeToken && recipient.code.length == 0) {
            // A plain account is paid in the chain's coin.
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

    // -------------------------------------------------------------------------------------------------------- refunds

    /// @notice Brings the roots of a bundle, which prove its leaves; its id is the number of those before it.
    function relayRootBundle(bytes32 relayerRefundRoot, bytes32 slowRelayRoot) external onlyOperator {
        emit RelayedRootBundle(uint32(rootBundles.length), relayerRefundRoot, slowRelayRoot);
        rootBundles.push(RootBundle(slowRelayRoot, relayerRefundRoot));
    }

    /// @notice Pays relayers their due, and depositors of expired deposits their deposits; anybody may call it.
    /// @dev All or none where the pool holds too little. A token that refuses an account holds up no other: what that
    /// account was to get is kept for it, and the event says so of the whole leaf.
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

    /// @notice Pays the caller what was kept for it, to any account.
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

    // ------------------------------------------------------------------------------------------------------- the rest

    /// @notice Several calls in one transaction; when one reverts, all do.
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
