// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title What the ERC-7540 vaults of other makes than Lagoon's share: redemptions by request, and their cancellation
/// by ERC-7887.
/// @notice Written from the standards and from the observed behaviour of Centrifuge v3 and Superform v2, not from their
/// source. A manager fulfils requests whole or in parts, each part at a price of its own; what is claimable has the
/// average price, rounded down, so that `redeem(maxRedeem)` may pay less than `withdraw(maxWithdraw)` and leave dust.
/// The manager holds the assets: what it pays for a redemption comes out of its balance, by its allowance.
abstract contract AsyncRedemptions {
    using Math for uint256;
    using SafeERC20 for IERC20;

    /// @dev What is pending is in what was requested with, what is claimable and cancelled in what is claimed: a deposit
    /// has pending assets and claimable shares, a redemption pending shares and claimable assets. The price is assets
    /// per share, with 18 decimals.
    struct Request {
        uint256 pending;
        uint256 claimable;
        uint256 price;
        bool isCancelling;
        uint256 cancelled;
    }

    /// @dev The requests of each controller, in their order and by their id.
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
    /// @notice Who fulfils requests, and pays and is paid the assets.
    address public immutable manager;
    /// @dev What a price is divided by, between the smallest units of shares and of assets.
    uint256 private immutable _scale;

    /// @notice What a share is worth now, in assets with 18 decimals. It promises nothing to a request.
    uint256 public price = 1e18;

    mapping(address controller => mapping(address operator => bool)) public isOperator;

    Requests private _redemptions;

    constructor(IERC20Metadata asset_, address manager_, uint8 shareDecimals) {
        asset = address(asset_);
        manager = manager_;
        _scale = 10 ** (18 + shareDecimals - asset_.decimals());
    }

    // ------------------------------------------------------------------------------------------- who may, and when

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

    // --------------------------------------------------------------------------------------- what a make does its way

    function share() public view virtual returns (address);

    function _mintShares(address to, uint256 shares) internal virtual;

    function _burnShares(address from, uint256 shares) internal virtual;

    /// @dev Moves an owner's shares for `spender`, who needs an allowance unless it is the owner.
    function _moveShares(address spender, address from, address to, uint256 shares) internal virtual;

    /// @dev Whether an account may hold shares.
    function _isAllowed(address account) internal view virtual returns (bool);

    /// @dev The id of a new request. One that is always 0 makes one request of all that a controller asks for.
    function _nextRequestId() internal virtual returns (uint256) {
        return 0;
    }

    /// @dev The request that an id means: where all have the id 0, any id does.
    function _requestIdOf(uint256) internal view virtual returns (uint256) {
        return 0;
    }

    // ------------------------------------------------------------------------------------------------------- requests

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

    // ---------------------------------------------------------------------------------------------------- fulfilment

    /// @notice Says what a share is worth from now on, in assets with 18 decimals.
    function updatePrice(uint256 newPrice) external onlyManager {
        price = newPrice;
        emit PriceUpdated(newPrice);
    }

    /// @notice Makes a part of a request claimable, at the price that the two amounts make, with the manager's assets.
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
        // A cancellation that comes too late comes to nothing.
        if (request.pending == 0) request.isCancelling = false;
    }

    // --------------------------------------------------------------------------------------------------------- claims

    function redeem(uint256 shares, address receiver, address controller) external returns (uint256 assets) {
        _requireMayClaim(receiver, controller);
        if (shares > maxRedeem(controller)) revert ExceedsMaxRedeem();
        uint256[] storage ids = _redemptions.ids[controller];
        uint256 remaining = shares;
        for (uint256 i = 0; i < ids.length; i++) {
            Request storage request = _redemptions.byId[controller][ids[i]];
            uint256 part = remaining.min(_claimableShares(request));
            remaining -= part;
            // What is rounded away from the user is not claimable any more.
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

    /// @notice What `redeem` takes at most, rounded down: 0 for an account that may hold no shares.
    function maxRedeem(address controller) public view returns (uint256 shares) {
        if (!_isAllowed(controller)) return 0;
        uint256[] storage ids = _redemptions.ids[controller];
        for (uint256 i = 0; i < ids.length; i++) {
            shares += _claimableShares(_redemptions.byId[controller][ids[i]]);
        }
    }

    /// @notice What `withdraw` takes at most, to the unit: 0 for an account that may hold no shares.
    function maxWithdraw(address controller) external view returns (uint256 assets) {
        if (!_isAllowed(controller)) return 0;
        uint256[] storage ids = _redemptions.ids[controller];
        for (uint256 i = 0; i < ids.length; i++) {
            assets += _redemptions.byId[controller][ids[i]].claimable;
        }
    }

    // -------------------------------------------------------------------------------------------------- cancellations

    /// @notice Asks the manager to give back what is pending of a request; no new request until it did.
    function cancelRedeemRequest(uint256 requestId, address controller) external {
        _requireOperatorOf(controller);
        if (!_isAllowed(controller)) revert TransferNotAllowed();
        _cancel(_redemption(requestId, controller));
        emit CancelRedeemRequest(controller, _requestIdOf(requestId), msg.sender);
    }

    /// @notice Makes all that is still pending of a cancelled request claimable again as shares.
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

    // ---------------------------------------------------------------------------------------------------- conversions

    /// @notice All shares at the present price, those of pending redemptions too.
    function totalAssets() external view returns (uint256) {
        return convertToAssets(IERC20(share()).totalSupply());
    }

    function convertToAssets(uint256 shares) public view returns (uint256) {
        return _toAssets(shares, price, Math.Rounding.Floor);
    }

    function convertToShares(uint256 assets) public view returns (uint256) {
        return _toShares(assets, price, Math.Rounding.Floor);
    }

    /// @dev ERC-7540 wants a revert; this make gives no reason.
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
