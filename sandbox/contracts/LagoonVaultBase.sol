// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {LagoonSignals} from "./LagoonSignals.sol";
import {PendingSilo} from "./PendingSilo.sol";

/// @title Base of all Lagoon-like vaults, with requests, valuation, settlement and claims
/// @notice It reproduces the observed behaviour of Lagoon vaults, not their source. Selectors, events, errors, ids and
/// storage match, so that a client cannot tell the difference.
///
/// A deposit has four steps:
/// - `requestDeposit` moves assets to the silo under the current epoch's id.
/// - The valuation manager proposes a valuation, which closes the epoch.
/// - The safe settles, which mints shares to the vault at one rate for all requests.
/// - The controller claims its shares with `deposit`.
///
/// Redemptions have the same steps. Deposit ids are odd, and redemption ids are even.
abstract contract LagoonVaultBase is ERC20, LagoonSignals {
    using SafeERC20 for IERC20;
    using Math for uint256;

    uint256 internal constant BASIS_POINTS = 10_000;
    uint256 private constant YEAR = 365 days;
    /// @dev The protocol receives this part of every fee, in basis points.
    uint256 private constant PROTOCOL_RATE = 1_000;
    uint256 private constant NO_PROPOSAL = type(uint256).max;

    /// @dev Lagoon has no such struct. Its `initialize` differs per version, and only its factory calls it.
    struct InitialValues {
        IERC20Metadata asset;
        string name;
        string symbol;
        address admin;
        address safe;
        address valuationManager;
        address whitelistManager;
        address feeReceiver;
        address feeRegistry;
        bool whitelisted;
        Rates rates;
    }

    constructor() ERC20("", "") {}

    function initialize(InitialValues calldata initial) external {
        Ledger storage ledger = _ledger();
        if (ledger.depositEpochId != 0) revert InvalidInitialization();

        (_share().name, _share().symbol) = (initial.name, initial.symbol);
        (_share().asset, _share().owner) = (address(initial.asset), initial.admin);

        ledger.newTotalAssets = NO_PROPOSAL;
        (ledger.depositEpochId, ledger.depositSettleId) = (1, 1);
        (ledger.redeemEpochId, ledger.redeemSettleId) = (2, 2);
        ledger.pendingSilo = address(new PendingSilo(initial.asset));
        uint8 assetDecimals = initial.asset.decimals();
        ledger.decimals = assetDecimals < 18 ? 18 : assetDecimals;
        ledger.decimalsOffset = ledger.decimals - assetDecimals;

        _roles().safe = initial.safe;
        _roles().valuationManager = initial.valuationManager;
        _roles().whitelistManager = initial.whitelistManager;
        _roles().feeReceiver = initial.feeReceiver;
        _roles().feeRegistry = initial.feeRegistry;
        if (initial.whitelisted) _access().accessMode = AccessMode.Whitelist;
        _fees().highWaterMark = 10 ** assetDecimals;
        _fees().lastFeeTime = block.timestamp;
        (_fees().rates.managementRate, _fees().rates.performanceRate) =
            (initial.rates.managementRate, initial.rates.performanceRate);

        _afterInitialize(initial);
        emit StateUpdated(State.Open);
    }

    // ---------------------------------------------------------------------------------------------- Access control

    modifier onlyOwner() {
        if (msg.sender != owner()) revert OwnableUnauthorizedAccount(msg.sender);
        _;
    }

    modifier onlySafe() {
        if (msg.sender != _roles().safe) revert OnlySafe(_roles().safe);
        _;
    }

    modifier onlyValuationManager() {
        if (msg.sender != _roles().valuationManager) revert OnlyValuationManager(_roles().valuationManager);
        _;
    }

    modifier onlyWhitelistManager() {
        if (msg.sender != _roles().whitelistManager) revert OnlyWhitelistManager(_roles().whitelistManager);
        _;
    }

    modifier onlyOperatorOf(address account) {
        if (msg.sender != account && !isOperator(account, msg.sender)) revert ERC7540InvalidOperator();
        _;
    }

    modifier onlyOpen() {
        if (_lifecycle().state != State.Open) revert NotOpen(_lifecycle().state);
        _;
    }

    modifier onlyClosing() {
        if (_lifecycle().state != State.Closing) revert NotClosing(_lifecycle().state);
        _;
    }

    modifier whenNotPaused() {
        if (paused()) revert EnforcedPause();
        _;
    }

    // ----------------------------------------------------------------------------------- Version-specific functions

    function _afterInitialize(InitialValues calldata initial) internal virtual {}

    /// @dev Returns true while the settled valuation allows instant deposits (Lagoon 0.5 and later).
    function _valuationStands() internal view virtual returns (bool);

    /// @dev Lagoon 0.5 and later start the validity period of the settled valuation here.
    function _renewValuation() internal virtual;

    /// @dev Lagoon 0.6 and later revert if the deposit would exceed the vault's cap.
    function _requireUnderCap(uint256 assets) internal view virtual {}

    function _requireMayRequest(address owner_, address controller) internal view virtual;

    /// @dev Lagoon 0.5.1 and later also check access for claims and for cancelled deposit requests.
    function _requireMayClaim(address receiver, address controller) internal view virtual {}

    /// @dev Lagoon 0.6 and later charge an entry fee, in basis points of the shares.
    function _entryRate() internal view virtual returns (uint16) {
        return 0;
    }

    /// @dev Lagoon 0.6 and later charge an exit fee, in basis points of the shares.
    function _exitRate() internal view virtual returns (uint16) {
        return 0;
    }

    /// @dev Lagoon 0.6 and later emit an event with the type of the fee.
    function _emitFeeTaken(FeeType feeType, uint256 shares, uint16 rate, uint40 settleId, uint256 protocolShares)
        internal
        virtual
    {}

    /// @dev Lagoon 0.6 and later emit no `Referral` for a request with a zero referral address.
    function _emitReferral(address referral, address owner_, uint256 requestId, uint256 assets) internal virtual {
        emit Referral(referral, owner_, requestId, assets);
    }

    // ------------------------------------------------------------------------------------------------ Deposit requests

    function requestDeposit(uint256 assets, address controller, address owner_)
        external
        payable
        returns (uint256 requestId)
    {
        return _requestDeposit(assets, controller, owner_);
    }

    function requestDeposit(uint256 assets, address controller, address owner_, address referral)
        external
        payable
        returns (uint256 requestId)
    {
        requestId = _requestDeposit(assets, controller, owner_);
        _emitReferral(referral, owner_, requestId, assets);
    }

    function _requestDeposit(uint256 assets, address controller, address owner_)
        private
        onlyOperatorOf(owner_)
        whenNotPaused
        returns (uint256)
    {
        if (_valuationStands()) revert OnlySyncDepositAllowed();
        _requireMayRequest(owner_, controller);
        _requireUnderCap(assets);
        if (msg.value != 0) revert CantDepositNativeToken();

        uint256 claimable = claimableDepositRequest(0, controller);
        if (claimable > 0) _claimDeposit(claimable, controller, controller);

        Ledger storage ledger = _ledger();
        uint40 epochId = ledger.depositEpochId;
        if (ledger.lastDepositRequestId[controller] != epochId) {
            if (pendingDepositRequest(0, controller) > 0) revert OnlyOneRequestAllowed();
            ledger.lastDepositRequestId[controller] = epochId;
        }
        ledger.epochs[epochId].depositRequest[controller] += assets;
        IERC20(asset()).safeTransferFrom(owner_, ledger.pendingSilo, assets);
        emit DepositRequest(controller, owner_, epochId, msg.sender, assets);
        return epochId;
    }

    /// @notice Cancels the caller's request and returns its assets. It reverts after a valuation proposal closes the
    /// epoch.
    function cancelRequestDeposit() external whenNotPaused {
        _cancelDepositRequest(msg.sender);
    }

    function _cancelDepositRequest(address controller) internal {
        _requireMayClaim(controller, controller);
        Ledger storage ledger = _ledger();
        uint40 requestId = ledger.lastDepositRequestId[controller];
        if (requestId != ledger.depositEpochId) revert RequestNotCancelable(requestId);
        uint256 assets = ledger.epochs[requestId].depositRequest[controller];
        ledger.epochs[requestId].depositRequest[controller] = 0;
        // The controller receives the assets, even if another account provided them.
        IERC20(asset()).safeTransferFrom(ledger.pendingSilo, controller, assets);
        emit DepositRequestCanceled(requestId, controller);
    }

    // -------------------------------------------------------------------------------------------------- Deposit claims

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        return _claimDeposit(assets, receiver, msg.sender);
    }

    function deposit(uint256 assets, address receiver, address controller)
        external
        onlyOperatorOf(controller)
        returns (uint256 shares)
    {
        return _claimDeposit(assets, receiver, controller);
    }

    function mint(uint256 shares, address receiver) external returns (uint256 assets) {
        return _claimShares(shares, receiver, msg.sender);
    }

    function mint(uint256 shares, address receiver, address controller)
        external
        onlyOperatorOf(controller)
        returns (uint256 assets)
    {
        return _claimShares(shares, receiver, controller);
    }

    function _claimDeposit(uint256 assets, address receiver, address controller) internal returns (uint256 shares) {
        uint40 requestId = _claimableDepositId(receiver, controller);
        _ledger().epochs[requestId].depositRequest[controller] -= assets;
        shares = _netOfEntryFee(convertToShares(assets, requestId), requestId);
        _transfer(address(this), receiver, shares);
        emit Deposit(controller, receiver, assets, shares);
    }

    function _claimShares(uint256 shares, address receiver, address controller) private returns (uint256 assets) {
        uint40 requestId = _claimableDepositId(receiver, controller);
        uint256 sharesBeforeFee = _beforeFee(shares, _settlementOf(requestId).entryFeeRate);
        assets = _assetsAt(sharesBeforeFee, requestId, Math.Rounding.Ceil);
        _ledger().epochs[requestId].depositRequest[controller] -= assets;
        _transfer(address(this), receiver, shares);
        emit Deposit(controller, receiver, assets, shares);
    }

    function _claimableDepositId(address receiver, address controller) private view returns (uint40 requestId) {
        _requireMayClaim(receiver, controller);
        requestId = _ledger().lastDepositRequestId[controller];
        if (requestId > _ledger().lastDepositEpochIdSettled) revert RequestIdNotClaimable();
    }

    function _netOfEntryFee(uint256 shares, uint40 requestId) internal view returns (uint256) {
        return shares - _feeOn(shares, _settlementOf(requestId).entryFeeRate);
    }

    function _netOfExitFee(uint256 shares, uint40 requestId) internal view returns (uint256) {
        return shares - _feeOn(shares, _settlementOf(requestId).exitFeeRate);
    }

    function _feeOn(uint256 shares, uint16 rate) internal pure returns (uint256) {
        return shares.mulDiv(rate, BASIS_POINTS, Math.Rounding.Ceil);
    }

    function _beforeFee(uint256 shares, uint16 rate) private pure returns (uint256) {
        return shares.mulDiv(BASIS_POINTS, BASIS_POINTS - rate, Math.Rounding.Ceil);
    }

    // ------------------------------------------------------------------------------------------------------------ Fees

    /// @dev Mints the shares of a fee. The registry stands for the receiver that the real registry names for the
    /// protocol.
    function _takeFee(FeeType feeType, uint256 shares, uint16 rate, uint40 settleId) internal {
        if (shares == 0) return;
        uint256 protocolShares = shares.mulDiv(PROTOCOL_RATE, BASIS_POINTS, Math.Rounding.Ceil);
        _mint(_roles().feeReceiver, shares - protocolShares);
        _mint(_roles().feeRegistry, protocolShares);
        _emitFeeTaken(feeType, shares, rate, settleId, protocolShares);
    }

    /// @dev Charges the management fee for the time since the last charge. Charges the performance fee on the share
    /// price above its previous maximum.
    function _takeValuationFees() private {
        Fees storage fees = _fees();
        Rates memory rates = fees.rates;
        uint256 supply = totalSupply() + _virtualShares();
        uint256 assets = _ledger().totalAssets;

        uint256 management = assets.mulDiv(rates.managementRate * (block.timestamp - fees.lastFeeTime), BASIS_POINTS * YEAR);
        uint256 price = (10 ** decimals()).mulDiv(assets + 1 - management, supply);
        uint256 gain = price > fees.highWaterMark ? price - fees.highWaterMark : 0;
        uint256 performance = gain.mulDiv(totalSupply() * rates.performanceRate, BASIS_POINTS * 10 ** decimals());

        uint256 remaining = assets + 1 - management - performance;
        uint256 managementShares = management.mulDiv(supply, remaining, Math.Rounding.Ceil);
        uint256 performanceShares = performance.mulDiv(supply, remaining, Math.Rounding.Ceil);
        _takeFee(FeeType.Management, managementShares, rates.managementRate, 0);
        _takeFee(FeeType.Performance, performanceShares, rates.performanceRate, 0);

        uint256 after_ = convertToAssets(10 ** decimals());
        if (after_ > fees.highWaterMark) fees.highWaterMark = after_;
        fees.lastFeeTime = block.timestamp;
    }

    // ----------------------------------------------------------------------------------------------------- Redemptions

    function requestRedeem(uint256 shares, address controller, address owner_)
        external
        onlyOpen
        whenNotPaused
        returns (uint256)
    {
        _requireMayRequest(owner_, controller);
        return _requestRedeem(shares, controller, owner_);
    }

    function _requestRedeem(uint256 shares, address controller, address owner_) internal returns (uint256) {
        if (msg.sender != owner_ && !isOperator(owner_, msg.sender)) _spendAllowance(owner_, msg.sender, shares);

        uint256 claimable = claimableRedeemRequest(0, controller);
        if (claimable > 0) _claimRedeem(claimable, controller, controller);

        Ledger storage ledger = _ledger();
        uint40 epochId = ledger.redeemEpochId;
        if (ledger.lastRedeemRequestId[controller] != epochId) {
            if (pendingRedeemRequest(0, controller) > 0) revert OnlyOneRequestAllowed();
            ledger.lastRedeemRequestId[controller] = epochId;
        }
        ledger.epochs[epochId].redeemRequest[controller] += shares;
        _transfer(owner_, ledger.pendingSilo, shares);
        emit RedeemRequest(controller, owner_, epochId, msg.sender, shares);
        return epochId;
    }

    function redeem(uint256 shares, address receiver, address controller)
        external
        whenNotPaused
        returns (uint256 assets)
    {
        if (_redeemsAtOnce(controller)) {
            assets = convertToAssets(shares - _feeOn(shares, _exitRate()));
            _redeemAtOnce(shares, assets, receiver, controller);
        } else {
            _requireOperatorOf(controller);
            assets = _claimRedeem(shares, receiver, controller);
        }
    }

    function withdraw(uint256 assets, address receiver, address controller)
        external
        whenNotPaused
        returns (uint256 shares)
    {
        if (_redeemsAtOnce(controller)) {
            shares = _beforeFee(_sharesNow(assets, Math.Rounding.Ceil), _exitRate());
            _redeemAtOnce(shares, assets, receiver, controller);
        } else {
            _requireOperatorOf(controller);
            uint40 requestId = _claimableRedeemId(receiver, controller);
            uint256 net = _sharesAt(assets, requestId, Math.Rounding.Ceil);
            shares = _beforeFee(net, _settlementOf(requestId).exitFeeRate);
            _payRedemption(shares, assets, requestId, receiver, controller);
        }
    }

    function _requireOperatorOf(address account) private view onlyOperatorOf(account) {}

    function _claimRedeem(uint256 shares, address receiver, address controller) internal returns (uint256 assets) {
        uint40 requestId = _claimableRedeemId(receiver, controller);
        assets = convertToAssets(_netOfExitFee(shares, requestId), requestId);
        _payRedemption(shares, assets, requestId, receiver, controller);
    }

    function _claimableRedeemId(address receiver, address controller) private view returns (uint40 requestId) {
        _requireMayClaim(receiver, controller);
        requestId = _ledger().lastRedeemRequestId[controller];
        if (requestId > _ledger().lastRedeemEpochIdSettled) revert RequestIdNotClaimable();
    }

    function _payRedemption(uint256 shares, uint256 assets, uint40 requestId, address receiver, address controller)
        private
    {
        _ledger().epochs[requestId].redeemRequest[controller] -= shares;
        IERC20(asset()).safeTransfer(receiver, assets);
        emit Withdraw(msg.sender, receiver, controller, assets, shares);
    }

    /// @dev A closed vault holds its assets and redeems without a request. The controller must claim a settled request
    /// first.
    function _redeemsAtOnce(address controller) internal view returns (bool) {
        return _lifecycle().state == State.Closed && claimableRedeemRequest(0, controller) == 0;
    }

    function _redeemAtOnce(uint256 shares, uint256 assets, address receiver, address owner_) private {
        _requireMayClaim(receiver, owner_);
        if (msg.sender != owner_ && !isOperator(owner_, msg.sender)) _spendAllowance(owner_, msg.sender, shares);
        _ledger().totalAssets -= assets;
        _burn(owner_, shares);
        _takeFee(FeeType.Exit, _feeOn(shares, _exitRate()), _exitRate(), 0);
        IERC20(asset()).safeTransfer(receiver, assets);
        emit Withdraw(msg.sender, receiver, owner_, assets, shares);
    }

    // ---------------------------------------------------------------------------------------- Valuation and settlement

    /// @notice Proposes a valuation and closes the epochs that hold requests.
    function updateNewTotalAssets(uint256 newTotalAssets) external onlyValuationManager {
        if (_lifecycle().state == State.Closed) revert Closed();
        if (_valuationStands()) revert ValuationUpdateNotAllowed();
        _propose(newTotalAssets);
    }

    function _propose(uint256 newTotalAssets) private whenNotPaused {
        Ledger storage ledger = _ledger();
        ledger.epochs[ledger.depositEpochId].settleId = ledger.depositSettleId;
        ledger.epochs[ledger.redeemEpochId].settleId = ledger.redeemSettleId;

        uint256 pendingAssets = IERC20(asset()).balanceOf(ledger.pendingSilo);
        if (pendingAssets != 0) {
            ledger.settles[ledger.depositSettleId].pendingAssets = pendingAssets;
            ledger.depositEpochId += 2;
        }
        uint256 pendingShares = balanceOf(ledger.pendingSilo);
        if (pendingShares != 0) {
            ledger.settles[ledger.redeemSettleId].pendingShares = pendingShares;
            ledger.redeemEpochId += 2;
        }
        ledger.newTotalAssets = newTotalAssets;
        emit NewTotalAssetsUpdated(newTotalAssets);
    }

    function _settleDeposit(uint256 newTotalAssets) internal onlySafe onlyOpen {
        _acceptValuation(newTotalAssets);
        _settleDeposits();
        _settleRedemptions();
    }

    function _settleRedeem(uint256 newTotalAssets) internal onlySafe onlyOpen {
        _acceptValuation(newTotalAssets);
        _settleRedemptions();
    }

    function _acceptValuation(uint256 newTotalAssets) private whenNotPaused {
        Ledger storage ledger = _ledger();
        if (ledger.newTotalAssets == NO_PROPOSAL) revert NewTotalAssetsMissing();
        if (ledger.newTotalAssets != newTotalAssets) revert WrongNewTotalAssets();
        ledger.totalAssets = newTotalAssets;
        ledger.newTotalAssets = NO_PROPOSAL;
        _renewValuation();
        emit TotalAssetsUpdated(newTotalAssets);
        _takeValuationFees();
    }

    function _settleDeposits() private {
        Ledger storage ledger = _ledger();
        uint40 settleId = ledger.depositSettleId;
        Settlement storage settlement = ledger.settles[settleId];
        uint256 assets = settlement.pendingAssets;
        if (assets == 0) return;

        (settlement.totalAssets, settlement.totalSupply) = (ledger.totalAssets, totalSupply());
        settlement.entryFeeRate = _entryRate();
        uint256 shares = convertToShares(assets);
        uint256 fee = _feeOn(shares, settlement.entryFeeRate);
        _mint(address(this), shares - fee);
        _takeFee(FeeType.Entry, fee, settlement.entryFeeRate, settleId);

        ledger.totalAssets += assets;
        ledger.depositSettleId = settleId + 2;
        ledger.lastDepositEpochIdSettled = ledger.depositEpochId - 2;
        IERC20(asset()).safeTransferFrom(ledger.pendingSilo, msg.sender, assets);
        emit SettleDeposit(
            ledger.lastDepositEpochIdSettled, settleId, ledger.totalAssets, totalSupply(), assets, shares
        );
    }

    function _settleRedemptions() private {
        Ledger storage ledger = _ledger();
        uint40 settleId = ledger.redeemSettleId;
        Settlement storage settlement = ledger.settles[settleId];
        uint256 shares = settlement.pendingShares;
        uint256 fee = _feeOn(shares, _exitRate());
        uint256 assets = convertToAssets(shares - fee);
        // Redemptions stay pending, without an error, if the safe cannot pay them.
        if (assets == 0 || assets > IERC20(asset()).balanceOf(msg.sender)) return;

        (settlement.totalAssets, settlement.totalSupply) = (ledger.totalAssets, totalSupply());
        settlement.exitFeeRate = _exitRate();
        _burn(ledger.pendingSilo, shares);
        _takeFee(FeeType.Exit, fee, settlement.exitFeeRate, settleId);
        ledger.totalAssets -= assets;
        ledger.redeemSettleId = settleId + 2;
        ledger.lastRedeemEpochIdSettled = ledger.redeemEpochId - 2;
        IERC20(asset()).safeTransferFrom(msg.sender, address(this), assets);
        emit SettleRedeem(
            ledger.lastRedeemEpochIdSettled, settleId, ledger.totalAssets, totalSupply(), assets, shares
        );
    }

    // ------------------------------------------------------------------------------------------- Closing and pausing

    function initiateClosing() external onlyOwner onlyOpen {
        if (_ledger().newTotalAssets != NO_PROPOSAL) _proposeAgain();
        _lifecycle().state = State.Closing;
        emit StateUpdated(State.Closing);
    }

    /// @dev Lagoon 0.2 and later repeat an open proposal before closing. The repeated proposal includes later requests,
    /// whose epoch would otherwise never settle.
    function _proposeAgain() internal virtual {
        _propose(_ledger().newTotalAssets);
    }

    function _close(uint256 newTotalAssets) internal onlySafe onlyClosing {
        _acceptValuation(newTotalAssets);
        _settleDeposits();
        _settleRedemptions();
        _lifecycle().state = State.Closed;
        IERC20(asset()).safeTransferFrom(msg.sender, address(this), _ledger().totalAssets);
        emit StateUpdated(State.Closed);
    }

    function pause() external onlyOwner whenNotPaused {
        _pauseState().paused = true;
        emit Paused(msg.sender);
    }

    function unpause() external onlyOwner {
        if (!paused()) revert ExpectedPause();
        _pauseState().paused = false;
        emit Unpaused(msg.sender);
    }

    function _update(address from, address to, uint256 value) internal override whenNotPaused {
        super._update(from, to, value);
    }

    // ---------------------------------------------------------------------------------- Pending and claimable requests

    function pendingDepositRequest(uint256 requestId, address controller) public view returns (uint256 assets) {
        if (requestId == 0) requestId = _ledger().lastDepositRequestId[controller];
        if (requestId <= _ledger().lastDepositEpochIdSettled) return 0;
        return _ledger().epochs[uint40(requestId)].depositRequest[controller];
    }

    function claimableDepositRequest(uint256 requestId, address controller) public view returns (uint256 assets) {
        if (requestId == 0) requestId = _ledger().lastDepositRequestId[controller];
        if (requestId > _ledger().lastDepositEpochIdSettled) return 0;
        return _ledger().epochs[uint40(requestId)].depositRequest[controller];
    }

    function pendingRedeemRequest(uint256 requestId, address controller) public view returns (uint256 shares) {
        if (requestId == 0) requestId = _ledger().lastRedeemRequestId[controller];
        if (requestId <= _ledger().lastRedeemEpochIdSettled) return 0;
        return _ledger().epochs[uint40(requestId)].redeemRequest[controller];
    }

    function claimableRedeemRequest(uint256 requestId, address controller) public view returns (uint256 shares) {
        if (requestId == 0) requestId = _ledger().lastRedeemRequestId[controller];
        if (requestId > _ledger().lastRedeemEpochIdSettled) return 0;
        return _ledger().epochs[uint40(requestId)].redeemRequest[controller];
    }

    // ---------------------------------------------------------------------------------------------------- Conversions

    /// @notice Converts at the last settled valuation.
    function convertToShares(uint256 assets) public view returns (uint256) {
        return _sharesNow(assets, Math.Rounding.Floor);
    }

    /// @notice Converts at the last settled valuation.
    function convertToAssets(uint256 shares) public view returns (uint256) {
        return shares.mulDiv(_ledger().totalAssets + 1, totalSupply() + _virtualShares(), Math.Rounding.Floor);
    }

    /// @notice Converts at the rate of the request's settlement. The rate is 1:1 in whole tokens before the settlement.
    function convertToShares(uint256 assets, uint256 requestId) public view returns (uint256) {
        return _sharesAt(assets, uint40(requestId), Math.Rounding.Floor);
    }

    /// @notice Converts at the rate of the request's settlement. The rate is 1:1 in whole tokens before the settlement.
    function convertToAssets(uint256 shares, uint256 requestId) public view returns (uint256) {
        return _assetsAt(shares, uint40(requestId), Math.Rounding.Floor);
    }

    function _sharesNow(uint256 assets, Math.Rounding rounding) private view returns (uint256) {
        return assets.mulDiv(totalSupply() + _virtualShares(), _ledger().totalAssets + 1, rounding);
    }

    function _sharesAt(uint256 assets, uint40 requestId, Math.Rounding rounding) private view returns (uint256) {
        Settlement storage settlement = _settlementOf(requestId);
        return assets.mulDiv(settlement.totalSupply + _virtualShares(), settlement.totalAssets + 1, rounding);
    }

    function _assetsAt(uint256 shares, uint40 requestId, Math.Rounding rounding) private view returns (uint256) {
        Settlement storage settlement = _settlementOf(requestId);
        return shares.mulDiv(settlement.totalAssets + 1, settlement.totalSupply + _virtualShares(), rounding);
    }

    function _settlementOf(uint40 requestId) private view returns (Settlement storage) {
        return _ledger().settles[_ledger().epochs[requestId].settleId];
    }

    function _virtualShares() private view returns (uint256) {
        return 10 ** _ledger().decimalsOffset;
    }

    function previewDeposit(uint256) external pure returns (uint256) {
        revert ERC7540PreviewDepositDisabled();
    }

    function previewMint(uint256) external pure returns (uint256) {
        revert ERC7540PreviewMintDisabled();
    }

    function previewRedeem(uint256) external pure returns (uint256) {
        revert ERC7540PreviewRedeemDisabled();
    }

    function previewWithdraw(uint256) external pure returns (uint256) {
        revert ERC7540PreviewWithdrawDisabled();
    }

    // ------------------------------------------------------------------------------------------- Operators and views

    function setOperator(address operator, bool approved) external whenNotPaused returns (bool) {
        _ledger().isOperator[msg.sender][operator] = approved;
        emit OperatorSet(msg.sender, operator, approved);
        return true;
    }

    function isOperator(address controller, address operator) public view returns (bool) {
        return _ledger().isOperator[controller][operator];
    }

    function totalAssets() external view returns (uint256) {
        return _ledger().totalAssets;
    }

    function asset() public view returns (address) {
        return _share().asset;
    }

    function share() external view returns (address) {
        return address(this);
    }

    function owner() public view returns (address) {
        return _share().owner;
    }

    function paused() public view returns (bool) {
        return _pauseState().paused;
    }

    function name() public view override returns (string memory) {
        return _share().name;
    }

    function symbol() public view override returns (string memory) {
        return _share().symbol;
    }

    function decimals() public view override returns (uint8) {
        return _ledger().decimals;
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 // ERC-165
            || id == 0x2f0a18c5 // ERC-7575 vault
            || id == 0xf815c03d // ERC-7575 share
            || id == 0xce3bbe50 // ERC-7540 asynchronous deposit
            || id == 0x620ee8e4 // ERC-7540 asynchronous redemption
            || id == 0xe3bc4e65; // ERC-7540 operators
    }
}
