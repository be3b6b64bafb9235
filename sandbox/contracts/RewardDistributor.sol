// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

/// @title Merkle-tree reward distributor with the functions, events and errors of Merkl's Distributor that wallets need
/// @notice It reproduces the published behaviour. It has no operators who claim for others, and disputes cost nothing.
/// @dev Anyone may post, dispute and revoke trees because the chain is local. The sandbox writes the code directly to
/// an address, so the contract has no constructor and no immutables.
contract RewardDistributor {
    using SafeERC20 for IERC20;

    struct MerkleTree {
        bytes32 merkleRoot;
        bytes32 ipfsHash;
    }

    struct Claim {
        uint208 amount;
        uint48 timestamp;
        bytes32 merkleRoot;
    }

    /// @notice A tree takes effect this many hours after the next full hour.
    uint48 public constant disputePeriod = 2;

    MerkleTree public tree;
    MerkleTree public lastTree;
    uint48 public endOfDisputePeriod;
    /// @notice The address is zero unless a dispute is open.
    address public disputer;
    mapping(address user => mapping(address token => Claim)) public claimed;
    /// @notice The recipient of the zero token applies to all tokens without a recipient.
    mapping(address user => mapping(address token => address)) public claimRecipient;
    bool private _isEntered;

    event Claimed(address indexed user, address indexed token, uint256 amount);
    event ClaimRecipientUpdated(address indexed user, address indexed token, address indexed recipient);
    event TreeUpdated(bytes32 merkleRoot, bytes32 ipfsHash, uint48 endOfDisputePeriod);
    event Disputed(string reason);
    event DisputeResolved(bool valid);
    event Revoked();

    error InvalidLengths();
    error NotWhitelisted();
    error InvalidUninitializedRoot();
    error InvalidProof();
    error ReentrantCall();
    error UnresolvedDispute();
    error InvalidDispute();
    error NoDispute();

    function claim(
        address[] calldata users,
        address[] calldata tokens,
        uint256[] calldata amounts,
        bytes32[][] calldata proofs
    ) external {
        if (_isEntered) revert ReentrantCall();
        _isEntered = true;
        uint256 count = users.length;
        if (count == 0 || tokens.length != count || amounts.length != count || proofs.length != count) {
            revert InvalidLengths();
        }
        for (uint256 i = 0; i < count; i++) {
            _claim(users[i], tokens[i], amounts[i], proofs[i]);
        }
        _isEntered = false;
    }

    function getMerkleRoot() public view returns (bytes32) {
        bool isEffective = block.timestamp >= endOfDisputePeriod && disputer == address(0);
        return isEffective ? tree.merkleRoot : lastTree.merkleRoot;
    }

    function setClaimRecipient(address recipient, address token) external {
        claimRecipient[msg.sender][token] = recipient;
        // The real contract swaps the last two arguments of its own event too.
        emit ClaimRecipientUpdated(msg.sender, recipient, token);
    }

    function updateTree(MerkleTree calldata newTree) external {
        if (disputer != address(0)) revert UnresolvedDispute();
        lastTree = tree;
        tree = newTree;
        endOfDisputePeriod = _nextEnd();
        _tellTree();
    }

    function disputeTree(string calldata reason) external {
        if (disputer != address(0)) revert UnresolvedDispute();
        if (block.timestamp >= endOfDisputePeriod) revert InvalidDispute();
        disputer = msg.sender;
        emit Disputed(reason);
    }

    /// @notice Revokes the tree if the dispute is valid. Otherwise its dispute period starts again.
    function resolveDispute(bool valid) external {
        if (disputer == address(0)) revert NoDispute();
        disputer = address(0);
        if (valid) _revoke();
        else endOfDisputePeriod = _nextEnd();
        emit DisputeResolved(valid);
    }

    function revokeTree() external {
        if (disputer != address(0)) revert UnresolvedDispute();
        _revoke();
    }

    /// @notice Ends the dispute period in the current block, without a change of the chain's clock.
    /// @dev The real contract has no such function.
    function endDisputePeriod() external {
        endOfDisputePeriod = uint48(block.timestamp);
    }

    function _claim(address user, address token, uint256 amount, bytes32[] calldata proof) private {
        if (msg.sender != user && tx.origin != user) revert NotWhitelisted();
        bytes32 root = getMerkleRoot();
        if (root == bytes32(0)) revert InvalidUninitializedRoot();
        if (_fold(keccak256(abi.encode(user, token, amount)), proof) != root) revert InvalidProof();

        uint256 toSend = amount - claimed[user][token].amount;
        claimed[user][token] = Claim(SafeCast.toUint208(amount), uint48(block.timestamp), root);
        emit Claimed(user, token, toSend);
        if (toSend != 0) IERC20(token).safeTransfer(_recipientOf(user, token), toSend);
    }

    function _recipientOf(address user, address token) private view returns (address) {
        address recipient = claimRecipient[user][token];
        if (recipient == address(0)) recipient = claimRecipient[user][address(0)];
        return recipient == address(0) ? user : recipient;
    }

    function _fold(bytes32 leaf, bytes32[] calldata proof) private pure returns (bytes32 node) {
        node = leaf;
        for (uint256 i = 0; i < proof.length; i++) {
            bytes32 sibling = proof[i];
            node = node < sibling ? keccak256(abi.encode(node, sibling)) : keccak256(abi.encode(sibling, node));
        }
    }

    function _revoke() private {
        tree = lastTree;
        endOfDisputePeriod = 0;
        emit Revoked();
        _tellTree();
    }

    function _tellTree() private {
        emit TreeUpdated(tree.merkleRoot, tree.ipfsHash, endOfDisputePeriod);
    }

    function _nextEnd() private view returns (uint48) {
        uint256 nextHour = (block.timestamp + 1 hours - 1) / 1 hours;
        return uint48((nextHour + disputePeriod) * 1 hours);
    }
}
