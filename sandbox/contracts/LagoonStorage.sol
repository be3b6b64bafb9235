// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Storage layout of Lagoon vaults
/// @notice Lagoon 0.5.0 and later have no getters for most of these fields, so readers load them from these ERC-7201
/// slots. The order of the fields is therefore part of the interface, like a function selector.
abstract contract LagoonStorage {
    enum State {
        Open,
        Closing,
        Closed
    }

    enum SyncMode {
        Both,
        SyncDeposit,
        SyncRedeem,
        None
    }

    enum FeeType {
        Management,
        Performance,
        Entry,
        Exit
    }

    enum AccessMode {
        Blacklist,
        Whitelist
    }

    struct Epoch {
        uint40 settleId;
        mapping(address controller => uint256 assets) depositRequest;
        mapping(address controller => uint256 shares) redeemRequest;
    }

    struct Settlement {
        uint256 totalSupply;
        uint256 totalAssets;
        uint256 pendingAssets;
        uint256 pendingShares;
        uint16 entryFeeRate;
        uint16 exitFeeRate;
    }

    /// ERC-7201 namespace "hopper.storage.ERC7540".
    struct Ledger {
        uint256 totalAssets;
        uint256 newTotalAssets;
        uint40 depositEpochId;
        uint40 depositSettleId;
        uint40 lastDepositEpochIdSettled;
        uint40 redeemEpochId;
        uint40 redeemSettleId;
        uint40 lastRedeemEpochIdSettled;
        mapping(uint40 epochId => Epoch) epochs;
        mapping(uint40 settleId => Settlement) settles;
        mapping(address controller => uint40 epochId) lastDepositRequestId;
        mapping(address controller => uint40 epochId) lastRedeemRequestId;
        mapping(address controller => mapping(address operator => bool)) isOperator;
        address pendingSilo;
        address wrappedNativeToken;
        uint8 decimals;
        uint8 decimalsOffset;
        uint128 totalAssetsExpiration;
        uint128 totalAssetsLifespan;
        uint256 maxCap;
        SyncMode syncMode;
        bool isAsyncOnly;
    }

    /// ERC-7201 namespace "hopper.storage.Roles".
    struct Roles {
        address whitelistManager;
        address feeReceiver;
        address safe;
        address feeRegistry;
        address valuationManager;
        address securityCouncil;
        address superOperator;
    }

    /// ERC-7201 namespace "hopper.storage.vault".
    struct Lifecycle {
        State state;
    }

    /// ERC-7201 namespace "hopper.storage.Whitelistable". Lagoon 0.5 and earlier have a flag for an active whitelist in
    /// the second word.
    struct Access {
        mapping(address account => bool) isWhitelisted;
        AccessMode accessMode;
        mapping(address account => bool) isBlacklisted;
    }

    struct Rates {
        uint16 managementRate;
        uint16 performanceRate;
        uint16 entryRate;
        uint16 exitRate;
        uint16 haircutRate;
    }

    /// ERC-7201 namespace "hopper.storage.FeeManager".
    struct Fees {
        address feeRegistry;
        uint256 newRatesTimestamp;
        uint256 lastFeeTime;
        uint256 highWaterMark;
        uint256 cooldown;
        Rates rates;
        Rates oldRates;
    }

    /// ERC-7201 namespace "openzeppelin.storage.Pausable".
    struct Pause {
        bool paused;
    }

    /// ERC-7201 namespace "vaultline.storage.Share". Lagoon keeps these fields in OpenZeppelin's namespaces, but no
    /// reader loads them by slot.
    struct Share {
        string name;
        string symbol;
        address asset;
        address owner;
    }

    function _ledger() internal pure returns (Ledger storage ledger) {
        assembly {
            ledger.slot := 0x5c74d456014b1c0eb4368d944667a568313858a3029a650ff0cb7b56f8b57a00
        }
    }

    function _roles() internal pure returns (Roles storage roles) {
        assembly {
            roles.slot := 0x7c302ed2c673c3d6b4551cf74a01ee649f887e14fd20d13dbca1b6099534d900
        }
    }

    function _lifecycle() internal pure returns (Lifecycle storage lifecycle) {
        assembly {
            lifecycle.slot := 0x0e6b3200a60a991c539f47dddaca04a18eb4bcf2b53906fb44751d827f001400
        }
    }

    function _access() internal pure returns (Access storage access) {
        assembly {
            access.slot := 0x083cc98ab296d1a1f01854b5f7a2f47df4425a56ba7b35f7faa3a336067e4800
        }
    }

    function _fees() internal pure returns (Fees storage fees) {
        assembly {
            fees.slot := 0xa5292f7ccd85acc1b3080c01f5da9af7799f2c26826bd4d79081d6511780bd00
        }
    }

    function _pauseState() internal pure returns (Pause storage pauseState) {
        assembly {
            pauseState.slot := 0xcd5ed15c6e187e77e9aee88184c21f4f2182ab5827cb3b7e07fbedcd63f03300
        }
    }

    function _share() internal pure returns (Share storage share) {
        bytes32 slot = keccak256(abi.encode(uint256(keccak256("vaultline.storage.Share")) - 1)) & ~bytes32(uint256(0xff));
        assembly {
            share.slot := slot
        }
    }
}
