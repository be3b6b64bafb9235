// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title Base of the non-Lagoon ERC-7540 vaults, with redemption requests and ERC-7887 cancellations
/// @notice It reproduces the standards and the observed behaviour of Centrifuge v3 and Superform v2, not their source.
/// The manager fulfils a request in one or more parts and sets the price of each part. Claims use the average price of
/// the claimable parts, rounded down. `redeem(maxRedeem)` may therefore pay less than `withdraw(maxWithdraw)` and leave
/// dust. The manager holds the assets. The vault takes the assets of fulfilled redemptions through its allowance from
/// the manager.
abstract contract AsyncRedemptions {
    using Math for uint256;
    using SafeERC20 for IERC20;

    /// @dev A redemption has `pending` in shares and `claimable` in assets. A deposit has `pending` in assets and
    /// `claimable` in shares. `cancelled` has the unit of `pending`. `price` is in assets per share, with 18 decimals.
    struct Request {
        uint256 pending;
        uint256 claimable;
        uint256 price;
        bool isCancelling;
        uint256 cancelled;
    }

    /// @dev `ids` keeps the request ids of each controller, oldest first.
    struct Requests {
        mapping(address controller => uint256[]) ids;
        mapping(address controller => mapping(uint256 requestId => Request)) byId;
    }

    event RedeemRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares
    );
    event RedeemClaimable(address indexed controller, uint256 indexed requestId, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event CancelRedeemRequest(address indexed controller, uint256 indexed requestId, address sender);
    event CancelRedeemClaimable(address indexed controller, uint256 indexed requestId, uint256 shares);
    event CancelRedeemClaim(
        address indexed controller, address indexed receiver, uint256 indexed requestId, address sender, uint256 shares
    );
    event OperatorSet(address indexed controller, address indexed operator, bool approved);
    event PriceUpdated(uint256 price);

    error NotAuthorized();
    error CannotSetSelfAsOperator();
    error InvalidController();
    error InsufficientBalance();
    error ZeroAmountNotAllowed();
    error TransferNotAllowed();
    error NoPendingRequest();
    error CancellationIsPending();
    error ExceedsPendingRequest();
    error ExceedsMaxRedeem();
    error ExceedsRedeemLimits();

    address public immutable asset;
    /// @notice The manager fulfils requests, receives deposited assets and pays redeemed assets.
    address public immutable manager;
    /// @dev `shares * price / _scale` gives assets. Shares and assets are in their smallest units.
    uint256 private immutable _scale;

    /// @notice One share is currently worth this many assets, with 18 decimals. The manager may fulfil requests at
    /// other prices.
    uint256 public price = 1e18;

    mapping(address controller => mapping(address operator => bool)) public isOperator;

    Requests private _redemptions;

    constructor(IERC20Metadata asset_, address manager_, uint8 shareDecimals) {
        asset = address(asset_);
        manager = manager_;
        _scale = 10 ** (18 + shareDecimals - asset_.decimals());
    }

    // ---------------------------------------------------------------------------------------------- Access control

    modifier onlyManager() {
        if (msg.sender != manager) revert NotAuthorized();
        _;
    }

    function _requireOperatorOf(address controller) internal view virtual {
        if (msg.sender != controller && !isOperator[controller][msg.sender]) revert InvalidController();
    }

    function setOperator(address operator, bool approved) external returns (bool) {
        if (operator == msg.sender) revert CannotSetSelfAsOperator();
        isOperator[msg.sender][operator] = approved;
        emit OperatorSet(msg.sender, operator, approved);
        return true;
    }

    // --------------------------------------------------------------------------------------- Vault-specific functions

    function share() public view virtual returns (address);

    function _mintShares(address to, uint256 shares) internal virtual;

    function _burnShares(address from, uint256 shares) internal virtual;

    /// @dev Moves shares of `from`. `spender` needs an allowance unless it is `from`.
    function _moveShares(address spender, address from, address to, uint256 shares) internal virtual;

    /// @dev Returns true if the account may hold shares.
    function _isAllowed(address account) internal view virtual returns (bool);

    /// @dev Returns the id of a new request. The default id 0 merges all requests of a controller into one.
    function _nextRequestId() internal virtual returns (uint256) {
        return 0;
    }

    /// @dev Returns the id that stores the request. The default maps every id to 0.
    function _requestIdOf(uint256) internal view virtual returns (uint256) {
        return 0;
    }

    // ------------------------------------------------------------------------------------------------------- Requests

    function requestRedeem(uint256 shares, address controller, address owner)
        public
        virtual
        returns (uint256 requestId)
    {
        if (IERC20(share()).balanceOf(owner) < shares) revert InsufficientBalance();
        if (!_isAllowed(owner) || !_isAllowed(controller)) revert TransferNotAllowed();
        requestId = _addRequest(_redemptions, controller, shares);
        _moveShares(isOperator[owner][msg.sender] ? owner : msg.sender, owner, address(this), shares);
        emit RedeemRequest(controller, owner, requestId, msg.sender, shares);
    }

    function _addRequest(Requests storage requests, address controller, uint256 amount)
        internal
        returns (uint256 requestId)
    {
        if (amount == 0) revert ZeroAmountNotAllowed();
        uint256[] storage ids = requests.ids[controller];
        for (uint256 i = 0; i < ids.length; i++) {
            if (requests.byId[controller][ids[i]].isCancelling) revert CancellationIsPending();
        }
        requestId = _nextRequestId();
        if (ids.length == 0 || ids[ids.length - 1] != requestId) ids.push(requestId);
        requests.byId[controller][requestId].pending += amount;
    }

    function pendingRedeemRequest(uint256 requestId, address controller) external view returns (uint256 shares) {
        return _redemption(requestId, controller).pending;
    }

    function claimableRedeemRequest(uint256 requestId, address controller) external view returns (uint256 shares) {
        return _isAllowed(controller) ? _claimableShares(_redemption(requestId, controller)) : 0;
    }

    // ---------------------------------------------------------------------------------------------------- Fulfilment

    /// @notice Sets the current value of one share, in assets with 18 decimals.
    function updatePrice(uint256 newPrice) external onlyManager {
        price = newPrice;
        emit PriceUpdated(newPrice);
    }

    /// @notice Makes `shares` of a pending request claimable as `assets`, which the manager pays. The ratio of the two
    /// amounts sets the price.
    function fulfillRedeem(uint256 requestId, address controller, uint256 shares, uint256 assets)
        external
        onlyManager
    {
        Request storage request = _redemption(requestId, controller);
        _takeFromPending(request, shares);
        request.price = _priceOf(request.claimable + assets, _claimableShares(request) + shares);
        request.claimable += assets;
        _burnShares(address(this), shares);
        IERC20(asset).safeTransferFrom(msg.sender, address(this), assets);
        emit RedeemClaimable(controller, _requestIdOf(requestId), assets, shares);
    }

    function _takeFromPending(Request storage request, uint256 amount) internal {
        if (request.pending == 0) revert NoPendingRequest();
        if (amount == 0 || amount > request.pending) revert ExceedsPendingRequest();
        request.pending -= amount;
        // A cancellation ends without effect once nothing is pending.
        if (request.pending == 0) request.isCancelling = false;
    }

    // --------------------------------------------------------------------------------------------------------- Claims

    function redeem(uint256 shares, address receiver, address controller) external returns (uint256 assets) {
        _requireMayClaim(receiver, controller);
        if (shares > maxRedeem(controller)) revert ExceedsMaxRedeem();
        uint256[] storage ids = _redemptions.ids[controller];
        uint256 remaining = shares;
        for (uint256 i = 0; i < ids.length; i++) {
            Request storage request = _redemptions.byId[controller][ids[i]];
            uint256 part = remaining.min(_claimableShares(request));
            remaining -= part;
            // The user loses the rounding difference and cannot claim it later.
            request.claimable -= _toAssets(part, request.price, Math.Rounding.Ceil);
            assets += _toAssets(part, request.price, Math.Rounding.Floor);
        }
        _pay(receiver, controller, assets, shares);
    }

    function withdraw(uint256 assets, address receiver, address controller) external returns (uint256 shares) {
        _requireMayClaim(receiver, controller);
        uint256[] storage ids = _redemptions.ids[controller];
        uint256 remaining = assets;
        for (uint256 i = 0; i < ids.length; i++) {
            Request storage request = _redemptions.byId[controller][ids[i]];
            uint256 part = remaining.min(request.claimable);
            remaining -= part;
            request.claimable -= part;
            shares += _toShares(part, request.price, Math.Rounding.Ceil);
        }
        if (remaining > 0) revert ExceedsRedeemLimits();
        _pay(receiver, controller, assets, shares);
    }

    function _requireMayClaim(address receiver, address controller) internal view virtual {
        _requireOperatorOf(controller);
        if (!_isAllowed(controller) || !_isAllowed(receiver)) revert TransferNotAllowed();
    }

    function _pay(address receiver, address controller, uint256 assets, uint256 shares) private {
        IERC20(asset).safeTransfer(receiver, assets);
        emit Withdraw(msg.sender, receiver, controller, assets, shares);
    }

    /// @notice `redeem` accepts at most this many shares, rounded down. The limit is 0 for accounts that may not hold
    /// shares.
    function maxRedeem(address controller) public view returns (uint256 shares) {
        if (!_isAllowed(controller)) return 0;
        uint256[] storage ids = _redemptions.ids[controller];
        for (uint256 i = 0; i < ids.length; i++) {
            shares += _claimableShares(_redemptions.byId[controller][ids[i]]);
        }
    }

    /// @notice `withdraw` accepts at most this many assets, exact to the smallest unit. The limit is 0 for accounts
    /// that may not hold shares.
    function maxWithdraw(address controller) external view returns (uint256 assets) {
        if (!_isAllowed(controller)) return 0;
        uint256[] storage ids = _redemptions.ids[controller];
        for (uint256 i = 0; i < ids.length; i++) {
            assets += _redemptions.byId[controller][ids[i]].claimable;
        }
    }

    // -------------------------------------------------------------------------------------------------- Cancellations

    /// @notice Asks the manager to return the pending shares of a request. The controller cannot make new requests
    /// while the cancellation is pending.
    function cancelRedeemRequest(uint256 requestId, address controller) external {
        _requireOperatorOf(controller);
        if (!_isAllowed(controller)) revert TransferNotAllowed();
        _cancel(_redemption(requestId, controller));
        emit CancelRedeemRequest(controller, _requestIdOf(requestId), msg.sender);
    }

    /// @notice Makes the pending shares of a cancelled request claimable by `claimCancelRedeemRequest`.
    function fulfillCancelRedeem(uint256 requestId, address controller) external onlyManager {
        uint256 shares = _fulfillCancellation(_redemption(requestId, controller));
        emit CancelRedeemClaimable(controller, _requestIdOf(requestId), shares);
    }

    function claimCancelRedeemRequest(uint256 requestId, address receiver, address controller)
        external
        returns (uint256 shares)
    {
        _requireOperatorOf(controller);
        _requireCancellationReceiver(receiver, controller);
        shares = _takeCancelled(_redemption(requestId, controller));
        _moveShares(address(this), address(this), receiver, shares);
        _emitCancelRedeemClaim(receiver, controller, _requestIdOf(requestId), shares);
    }

    function _requireCancellationReceiver(address receiver, address controller) internal view virtual {}

    function _emitCancelRedeemClaim(address receiver, address controller, uint256 requestId, uint256 shares)
        internal
        virtual
    {
        emit CancelRedeemClaim(controller, receiver, requestId, msg.sender, shares);
    }

    function pendingCancelRedeemRequest(uint256 requestId, address controller) external view returns (bool) {
        return _redemption(requestId, controller).isCancelling;
    }

    function claimableCancelRedeemRequest(uint256 requestId, address controller)
        external
        view
        returns (uint256 shares)
    {
        return _redemption(requestId, controller).cancelled;
    }

    function _cancel(Request storage request) internal {
        if (request.pending == 0) revert NoPendingRequest();
        if (request.isCancelling) revert CancellationIsPending();
        request.isCancelling = true;
    }

    function _fulfillCancellation(Request storage request) internal returns (uint256 amount) {
        if (!request.isCancelling) revert NoPendingRequest();
        amount = request.pending;
        request.cancelled += amount;
        request.pending = 0;
        request.isCancelling = false;
    }

    function _takeCancelled(Request storage request) internal returns (uint256 amount) {
        amount = request.cancelled;
        request.cancelled = 0;
    }

    // ---------------------------------------------------------------------------------------------------- Conversions

    /// @notice Values the total share supply at the current price. The supply includes the shares of pending
    /// redemptions.
    function totalAssets() external view returns (uint256) {
        return convertToAssets(IERC20(share()).totalSupply());
    }

    function convertToAssets(uint256 shares) public view returns (uint256) {
        return _toAssets(shares, price, Math.Rounding.Floor);
    }

    function convertToShares(uint256 assets) public view returns (uint256) {
        return _toShares(assets, price, Math.Rounding.Floor);
    }

    /// @dev ERC-7540 requires this revert. The default gives no reason.
    function previewRedeem(uint256) external pure virtual returns (uint256) {
        revert();
    }

    function previewWithdraw(uint256) external pure virtual returns (uint256) {
        revert();
    }

    function _claimableShares(Request storage request) internal view returns (uint256) {
        return _toShares(request.claimable, request.price, Math.Rounding.Floor);
    }

    function _priceOf(uint256 assets, uint256 shares) internal view returns (uint256) {
        return assets.mulDiv(_scale, shares);
    }

    function _toAssets(uint256 shares, uint256 atPrice, Math.Rounding rounding) internal view returns (uint256) {
        return shares.mulDiv(atPrice, _scale, rounding);
    }

    function _toShares(uint256 assets, uint256 atPrice, Math.Rounding rounding) internal view returns (uint256) {
        return atPrice == 0 ? 0 : assets.mulDiv(_scale, atPrice, rounding);
    }

    function _redemption(uint256 requestId, address controller) private view returns (Request storage) {
        return _redemptions.byId[controller][_requestIdOf(requestId)];
    }

    function supportsInterface(bytes4 id) public pure virtual returns (bool) {
        return id == 0x01ffc9a7 // ERC-165
            || id == 0x2f0a18c5 // ERC-7575 vault
            || id == 0x620ee8e4 // ERC-7540 asynchronous redemption
            || id == 0xe3bc4e65; // ERC-7540 operators
    }
}
