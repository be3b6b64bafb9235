// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// A wallet that is a contract: what its owner signs is its own signature (ERC-1271).
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

/// Deploys smart accounts to addresses that are known beforehand (ERC-6492).
contract SmartAccountFactory {
    function create(address owner) external returns (address) {
        return address(new SmartAccount{salt: 0}(owner));
    }

    function addressOf(address owner) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(SmartAccount).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), code)))));
    }
}
