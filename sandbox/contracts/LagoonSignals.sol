// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonStorage} from "./LagoonStorage.sol";

/// @title Events and errors of Lagoon vaults that readers, indexers and wallets can encounter
abstract contract LagoonSignals is LagoonStorage {
    // Requests and claims
    event DepositRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets
    );
    event DepositRequestCanceled(uint256 indexed requestId, address indexed controller);
    event RedeemRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares
    );
    event RedeemRequestCanceled(uint256 indexed requestId, address indexed controller, uint256 shares);
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event DepositSync(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event WithdrawSync(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event Referral(address indexed referral, address indexed owner, uint256 indexed requestId, uint256 assets);
    event OperatorSet(address indexed controller, address indexed operator, bool approved);

    // Valuation and settlement
    event NewTotalAssetsUpdated(uint256 totalAssets);
    event TotalAssetsUpdated(uint256 totalAssets);
    event TotalAssetsLifespanUpdated(uint128 oldLifespan, uint128 newLifespan);
    event SettleDeposit(
        uint40 indexed epochId,
        uint40 indexed settledId,
        uint256 totalAssets,
        uint256 totalSupply,
        uint256 assetsDeposited,
        uint256 sharesMinted
    );
    event SettleRedeem(
        uint40 indexed epochId,
        uint40 indexed settledId,
        uint256 totalAssets,
        uint256 totalSupply,
        uint256 assetsWithdrawed,
        uint256 sharesBurned
    );

    // Fees, in Lagoon 0.6 and later
    event FeeTaken(
        FeeType indexed feeType,
        uint256 shares,
        uint16 rate,
        uint40 contextId,
        uint256 managerShares,
        uint256 protocolShares
    );
    event HaircutTaken(address indexed owner, uint256 shares, uint16 rate);

    // Vault state and access
    event StateUpdated(State state);
    event Paused(address account);
    event Unpaused(address account);
    event WhitelistUpdated(address indexed account, bool authorized);

    error OnlyOneRequestAllowed();
    error RequestNotCancelable(uint256 requestId);
    error RequestIdNotClaimable();
    error ERC7540InvalidOperator();
    error InvalidController(address controller);
    error InvalidReceiver(address receiver);
    error ERC7540PreviewDepositDisabled();
    error ERC7540PreviewMintDisabled();
    error ERC7540PreviewRedeemDisabled();
    error ERC7540PreviewWithdrawDisabled();
    error CantDepositNativeToken();
    error OnlySyncDepositAllowed();
    error OnlyAsyncDepositAllowed();
    error TotalAssetsExpired();
    error SyncOperationNotAllowed();
    error BelowMinimumAssets(uint256 assets, uint256 minimumAssets);
    error AsyncOnly();
    error MaxCapReached();

    error NewTotalAssetsMissing();
    error WrongNewTotalAssets();
    error ValuationUpdateNotAllowed();

    error NotOpen(State currentState);
    error NotClosing(State currentState);
    error Closed();
    error EnforcedPause();
    error ExpectedPause();

    error NotWhitelisted();
    error AddressNotAllowed(address account);
    error OnlySafe(address safe);
    error OnlyValuationManager(address valuationManager);
    error OnlyWhitelistManager(address whitelistManager);
    error OwnableUnauthorizedAccount(address account);
    error AboveMaxRate(uint256 maxRate);
    error InvalidInitialization();
}
