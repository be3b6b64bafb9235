// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";

/// @title Smart contract wallet whose valid signatures are its owner's (ERC-1271)
contract SmartAccount is IERC1271 {
    address private immutable OWNER;

    constructor(address owner) {
        OWNER = owner;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (address signer, ECDSA.RecoverError error, ) = ECDSA.tryRecover(hash, signature);
        bool isOwner = error == ECDSA.RecoverError.NoError && signer == OWNER;
        return isOwner ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// @title Factory of smart accounts at addresses that are known before deployment (ERC-6492)
contract SmartAccountFactory {
    function create(address owner) external returns (address) {
        return address(new SmartAccount{salt: 0}(owner));
    }

    function addressOf(address owner) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(SmartAccount).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), code)))));
    }
}

/// @title Code that an externally owned account delegates to (EIP-7702)
/// @notice Only the account itself may execute calls, and a batch of calls is atomic. Signatures of the account's key
/// are valid (ERC-1271).
contract DelegatedAccount is IERC1271 {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    error NotItself();

    receive() external payable {}

    function execute(Call[] calldata calls) external payable {
        if (msg.sender != address(this)) revert NotItself();
        for (uint256 i = 0; i < calls.length; i++) {
            Address.functionCallWithValue(calls[i].to, calls[i].data, calls[i].value);
        }
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (address signer, ECDSA.RecoverError error, ) = ECDSA.tryRecover(hash, signature);
        bool isOwn = error == ECDSA.RecoverError.NoError && signer == address(this);
        return isOwn ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}
