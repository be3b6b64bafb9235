// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {LagoonSyncDeposit} from "./LagoonSyncDeposit.sol";

/// @title Vault like Lagoon 0.6
/// @notice It has a cap, entry and exit fees, and instant redemptions with a haircut. The sync mode selects the instant
/// operations. A blacklist or a whitelist controls access. The safe is the only role with a getter.
contract LagoonVaultV06 is LagoonSyncDeposit {
    using SafeERC20 for IERC20;

    uint16 private constant MAX_ENTRY_RATE = 200;
    uint16 private constant MAX_EXIT_RATE = 200;
    uint16 private constant MAX_HAIRCUT_RATE = 2_000;

    event BlacklistUpdated(address indexed account, bool blacklisted);
    event AccessModeUpdated(AccessMode newMode);
    event SyncModeUpdated(SyncMode oldMode, SyncMode newMode);
    event AsyncOnlyActivated();
    event MaxCapUpdated(uint256 previousMaxCap, uint256 maxCap);

    function _afterInitialize(InitialValues calldata initial) internal override {
        _ledger().maxCap = type(uint256).max;
        _setRates(initial.rates);
    }

    function version() external pure virtual returns (string memory) {
        return "v0.6.0";
    }

    // ------------------------------------------------------------------------------------------- Requests and claims

    function cancelRequestDeposit(address controller) external whenNotPaused onlyOperatorOf(controller) {
        _cancelDepositRequest(controller);
    }

    function cancelRequestRedeem(address controller) external whenNotPaused onlyOperatorOf(controller) {
        uint40 requestId = _ledger().lastRedeemRequestId[controller];
        if (requestId != _ledger().redeemEpochId) revert RequestNotCancelable(requestId);
        uint256 shares = _ledger().epochs[requestId].redeemRequest[controller];
        _ledger().epochs[requestId].redeemRequest[controller] = 0;
        _transfer(_ledger().pendingSilo, controller, shares);
        emit RedeemRequestCanceled(requestId, controller, shares);
    }

    function claimAssetsOnBehalf(address[] calldata controllers) external onlySafe {
        for (uint256 i = 0; i < controllers.length; i++) {
            uint256 claimable = claimableRedeemRequest(0, controllers[i]);
            if (claimable > 0) _claimRedeem(claimable, controllers[i], controllers[i]);
        }
    }

    function syncRedeem(uint256 shares, address receiver, uint256 minimumAssets)
        external
        onlyOpen
        whenNotPaused
        returns (uint256 assets)
    {
        if (!_allows(SyncMode.SyncRedeem)) revert SyncOperationNotAllowed();
        if (!isTotalAssetsValid()) revert TotalAssetsExpired();
        if (receiver == address(0)) revert InvalidReceiver(receiver);
        _requireAllowed(msg.sender);
        _requireAllowed(receiver);
        Rates memory rates = _fees().rates;
        uint256 fee = _feeOn(shares, rates.exitRate);
        uint256 haircut = _feeOn(shares - fee, rates.haircutRate);
        assets = convertToAssets(shares - fee - haircut);
        if (assets < minimumAssets) revert BelowMinimumAssets(assets, minimumAssets);

        // The haircut stays in the safe until the next valuation includes it.
        _ledger().totalAssets -= convertToAssets(shares - fee);
        _burn(msg.sender, shares);
        _takeFee(FeeType.Exit, fee, rates.exitRate, 0);
        IERC20(asset()).safeTransferFrom(safe(), receiver, assets);
        if (haircut > 0) emit HaircutTaken(msg.sender, haircut, rates.haircutRate);
        emit WithdrawSync(msg.sender, receiver, msg.sender, assets, shares);
    }

    function previewSyncRedeem(uint256 shares) external view returns (uint256) {
        if (paused() || !_syncs(SyncMode.SyncRedeem)) return 0;
        uint256 net = shares - _feeOn(shares, _exitRate());
        return convertToAssets(net - _feeOn(net, _fees().rates.haircutRate));
    }

    function previewSyncDeposit(uint256 assets) external view returns (uint256) {
        if (paused() || !_syncs(SyncMode.SyncDeposit)) return 0;
        uint256 shares = convertToShares(assets);
        return shares - _feeOn(shares, _entryRate());
    }

    function _syncs(SyncMode wanted) private view returns (bool) {
        return isTotalAssetsValid() && _allows(wanted);
    }

    function _allows(SyncMode wanted) private view returns (bool) {
        SyncMode mode = _ledger().syncMode;
        return mode == SyncMode.Both || mode == wanted;
    }

    function _requireSyncDeposit() internal view override {
        if (!isTotalAssetsValid()) revert TotalAssetsExpired();
        if (!_syncs(SyncMode.SyncDeposit)) revert OnlyAsyncDepositAllowed();
    }

    function _requireUnderCap(uint256 assets) internal view override {
        uint256 pending = IERC20(asset()).balanceOf(_ledger().pendingSilo);
        if (_ledger().totalAssets + pending + assets > _ledger().maxCap) revert MaxCapReached();
    }

    function _emitReferral(address referral, address owner_, uint256 requestId, uint256 assets) internal override {
        if (referral != address(0)) emit Referral(referral, owner_, requestId, assets);
    }

    // -------------------------------------------------------------------------------------------------------- Access

    function _requireAllowed(address account) private view {
        if (!isAllowed(account)) revert AddressNotAllowed(account);
    }

    function _requireMayRequest(address owner_, address controller) internal view override {
        if (controller == address(0)) revert InvalidController(controller);
        _requireAllowed(owner_);
        _requireAllowed(controller);
        _requireAllowed(msg.sender);
    }

    function _requireMayClaim(address receiver, address controller) internal view override {
        _requireAllowed(controller);
        _requireAllowed(receiver);
        // The safe may claim for others, even if the lists exclude it.
        if (msg.sender != safe()) _requireAllowed(msg.sender);
    }

    function _requireMayDepositNow(address receiver) internal view override {
        _requireAllowed(msg.sender);
        _requireAllowed(receiver);
    }

    function isAllowed(address account) public view returns (bool) {
        Access storage access = _access();
        if (access.isBlacklisted[account]) return false;
        return access.accessMode == AccessMode.Blacklist || access.isWhitelisted[account];
    }

    function switchAccessMode(AccessMode newMode) external onlyOwner {
        _access().accessMode = newMode;
        emit AccessModeUpdated(newMode);
    }

    function addToWhitelist(address[] calldata accounts) external onlyWhitelistManager {
        _setWhitelisted(accounts, true);
    }

    function revokeFromWhitelist(address[] calldata accounts) external onlyWhitelistManager {
        _setWhitelisted(accounts, false);
    }

    function addToBlacklist(address[] calldata accounts) external onlyWhitelistManager {
        _setBlacklisted(accounts, true);
    }

    function revokeFromBlacklist(address[] calldata accounts) external onlyWhitelistManager {
        _setBlacklisted(accounts, false);
    }

    function _setWhitelisted(address[] calldata accounts, bool authorized) private {
        for (uint256 i = 0; i < accounts.length; i++) {
            _access().isWhitelisted[accounts[i]] = authorized;
            emit WhitelistUpdated(accounts[i], authorized);
        }
    }

    function _setBlacklisted(address[] calldata accounts, bool blacklisted) private {
        for (uint256 i = 0; i < accounts.length; i++) {
            _access().isBlacklisted[accounts[i]] = blacklisted;
            emit BlacklistUpdated(accounts[i], blacklisted);
        }
    }

    // ------------------------------------------------------------------------------------------------------ Settings

    function maxCap() external view returns (uint256) {
        return _ledger().maxCap;
    }

    function updateMaxCap(uint256 newMaxCap) external onlySafe {
        emit MaxCapUpdated(_ledger().maxCap, newMaxCap);
        _ledger().maxCap = newMaxCap;
    }

    function syncMode() external view returns (SyncMode) {
        return _ledger().syncMode;
    }

    function setSyncMode(SyncMode newMode) external onlySafe {
        if (_ledger().isAsyncOnly) revert AsyncOnly();
        _setSyncMode(newMode);
    }

    function isAsyncOnly() external view returns (bool) {
        return _ledger().isAsyncOnly;
    }

    /// @notice Disables `syncDeposit` and `syncRedeem` permanently.
    function activateAsyncOnly() external onlyOwner {
        _ledger().isAsyncOnly = true;
        _ledger().totalAssetsExpiration = 0;
        _ledger().totalAssetsLifespan = 0;
        _setSyncMode(SyncMode.None);
        emit AsyncOnlyActivated();
    }

    function _setSyncMode(SyncMode newMode) private {
        emit SyncModeUpdated(_ledger().syncMode, newMode);
        _ledger().syncMode = newMode;
    }

    function feeRates() external view returns (Rates memory) {
        return _fees().rates;
    }

    /// @notice Sets the fees, in basis points. Entry and exit fees are at most 2 %, and the haircut is at most 20 %.
    function updateRates(Rates calldata rates) external onlyOwner {
        _setRates(rates);
    }

    function _setRates(Rates calldata rates) private {
        if (rates.entryRate > MAX_ENTRY_RATE) revert AboveMaxRate(MAX_ENTRY_RATE);
        if (rates.exitRate > MAX_EXIT_RATE) revert AboveMaxRate(MAX_EXIT_RATE);
        if (rates.haircutRate > MAX_HAIRCUT_RATE) revert AboveMaxRate(MAX_HAIRCUT_RATE);
        _fees().rates = rates;
    }

    function _entryRate() internal view override returns (uint16) {
        return _fees().rates.entryRate;
    }

    function _exitRate() internal view override returns (uint16) {
        return _fees().rates.exitRate;
    }

    function _emitFeeTaken(FeeType feeType, uint256 shares, uint16 rate, uint40 settleId, uint256 protocolShares)
        internal
        override
    {
        emit FeeTaken(feeType, shares, rate, settleId, shares - protocolShares, protocolShares);
    }
}
