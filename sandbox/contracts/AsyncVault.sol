// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {AsyncRedemptions} from "./AsyncRedemptions.sol";
import {AsyncVaultShare} from "./AsyncVaultShare.sol";

/// @title ERC-7540 vault in the style of Centrifuge v3, with deposits and redemptions by request
/// @notice All requests have the id 0, and cancellations follow ERC-7887. Shares are a separate token, as ERC-7575
/// allows. The vault itself is not an ERC-20 and has no name, decimals or balances. `claimableDepositRequest`,
/// `claimableRedeemRequest` and all `max*` limits are 0 for a restricted account. The account keeps its requests and
/// can claim them once the restriction ends.
contract AsyncVault is AsyncRedemptions {
    using Math for uint256;
    using SafeERC20 for IERC20;

    event DepositRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets
    );
    event DepositClaimable(address indexed controller, uint256 indexed requestId, uint256 assets, uint256 shares);
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event CancelDepositRequest(address indexed controller, uint256 indexed requestId, address sender);
    event CancelDepositClaimable(address indexed controller, uint256 indexed requestId, uint256 assets);
    event CancelDepositClaim(
        address indexed controller, address indexed receiver, uint256 indexed requestId, address sender, uint256 assets
    );

    error InvalidOwner();
    error ExceedsMaxDeposit();
    error ExceedsDepositLimits();

    AsyncVaultShare private immutable _share;

    /// @notice True means that `requestRedeem` needs the owner's share allowance to the vault. Share tokens that do not
    /// let the vault move shares freely require this.
    bool public pullsSharesByAllowance;

    Requests private _deposits;

    constructor(
        IERC20Metadata asset_,
        string memory name,
        string memory symbol,
        uint8 shareDecimals,
        address manager_
    ) AsyncRedemptions(asset_, manager_, shareDecimals) {
        _share = new AsyncVaultShare(name, symbol, shareDecimals);
    }

    function share() public view override returns (address) {
        return address(_share);
    }

    function setPullsSharesByAllowance(bool pulls) external onlyManager {
        pullsSharesByAllowance = pulls;
    }

    // ------------------------------------------------------------------------------------------------------- Requests

    function requestDeposit(uint256 assets, address controller, address owner) external returns (uint256 requestId) {
        if (msg.sender != owner && !isOperator[owner][msg.sender]) revert InvalidOwner();
        if (IERC20(asset).balanceOf(owner) < assets) revert InsufficientBalance();
        if (!_isAllowed(controller)) revert TransferNotAllowed();
        requestId = _addRequest(_deposits, controller, assets);
        IERC20(asset).safeTransferFrom(owner, address(this), assets);
        emit DepositRequest(controller, owner, requestId, msg.sender, assets);
    }

    function pendingDepositRequest(uint256 requestId, address controller) external view returns (uint256 assets) {
        return _depositRequest(requestId, controller).pending;
    }

    function claimableDepositRequest(uint256 requestId, address controller) external view returns (uint256 assets) {
        return _isAllowed(controller) ? _claimableAssets(_depositRequest(requestId, controller)) : 0;
    }

    // ---------------------------------------------------------------------------------------------------- Fulfilment

    /// @notice Makes `assets` of a pending request claimable as `shares` and sends the assets to the manager. The ratio
    /// of the two amounts sets the price.
    function fulfillDeposit(uint256 requestId, address controller, uint256 assets, uint256 shares)
        external
        onlyManager
    {
        Request storage request = _depositRequest(requestId, controller);
        _takeFromPending(request, assets);
        request.price = _priceOf(_claimableAssets(request) + assets, request.claimable + shares);
        request.claimable += shares;
        _mintShares(address(this), shares);
        IERC20(asset).safeTransfer(msg.sender, assets);
        emit DepositClaimable(controller, _requestIdOf(requestId), assets, shares);
    }

    // --------------------------------------------------------------------------------------------------------- Claims

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        return deposit(assets, receiver, msg.sender);
    }

    function deposit(uint256 assets, address receiver, address controller) public returns (uint256 shares) {
        _requireMayClaim(receiver, controller);
        if (assets > maxDeposit(controller)) revert ExceedsMaxDeposit();
        uint256[] storage ids = _deposits.ids[controller];
        uint256 remaining = assets;
        for (uint256 i = 0; i < ids.length; i++) {
            Request storage request = _deposits.byId[controller][ids[i]];
            uint256 part = remaining.min(_claimableAssets(request));
            remaining -= part;
            // The user loses the rounding difference and cannot claim it later.
            uint256 taken = _toShares(part, request.price, Math.Rounding.Ceil);
            if (taken > request.claimable) revert ExceedsDepositLimits();
            request.claimable -= taken;
            shares += _toShares(part, request.price, Math.Rounding.Floor);
        }
        _give(receiver, controller, assets, shares);
    }

    function mint(uint256 shares, address receiver) external returns (uint256 assets) {
        return mint(shares, receiver, msg.sender);
    }

    function mint(uint256 shares, address receiver, address controller) public returns (uint256 assets) {
        _requireMayClaim(receiver, controller);
        uint256[] storage ids = _deposits.ids[controller];
        uint256 remaining = shares;
        for (uint256 i = 0; i < ids.length; i++) {
            Request storage request = _deposits.byId[controller][ids[i]];
            uint256 part = remaining.min(request.claimable);
            remaining -= part;
            request.claimable -= part;
            assets += _toAssets(part, request.price, Math.Rounding.Ceil);
        }
        if (remaining > 0) revert ExceedsDepositLimits();
        _give(receiver, controller, assets, shares);
    }

    function _give(address receiver, address controller, uint256 assets, uint256 shares) private {
        _share.move(address(this), address(this), receiver, shares);
        _emitDeposit(controller, receiver, assets, shares);
    }

    function _emitDeposit(address controller, address receiver, uint256 assets, uint256 shares) internal virtual {
        emit Deposit(controller, receiver, assets, shares);
    }

    /// @notice `deposit` accepts at most this many assets, rounded down. The limit is 0 for accounts that may not hold
    /// shares.
    function maxDeposit(address controller) public view returns (uint256 assets) {
        if (!_isAllowed(controller)) return 0;
        uint256[] storage ids = _deposits.ids[controller];
        for (uint256 i = 0; i < ids.length; i++) {
            assets += _claimableAssets(_deposits.byId[controller][ids[i]]);
        }
    }

    /// @notice `mint` accepts at most this many shares, exact to the smallest unit. The limit is 0 for accounts that
    /// may not hold shares.
    function maxMint(address controller) external view returns (uint256 shares) {
        if (!_isAllowed(controller)) return 0;
        uint256[] storage ids = _deposits.ids[controller];
        for (uint256 i = 0; i < ids.length; i++) {
            shares += _deposits.byId[controller][ids[i]].claimable;
        }
    }

    // -------------------------------------------------------------------------------------------------- Cancellations

    /// @notice Asks the manager to return the pending assets of a request. The controller cannot make new deposit
    /// requests while the cancellation is pending.
    function cancelDepositRequest(uint256 requestId, address controller) external {
        _requireOperatorOf(controller);
        _cancel(_depositRequest(requestId, controller));
        emit CancelDepositRequest(controller, _requestIdOf(requestId), msg.sender);
    }

    /// @notice Makes the pending assets of a cancelled request claimable by `claimCancelDepositRequest`.
    function fulfillCancelDeposit(uint256 requestId, address controller) external onlyManager {
        uint256 assets = _fulfillCancellation(_depositRequest(requestId, controller));
        emit CancelDepositClaimable(controller, _requestIdOf(requestId), assets);
    }

    function claimCancelDepositRequest(uint256 requestId, address receiver, address controller)
        external
        returns (uint256 assets)
    {
        _requireMayClaim(receiver, controller);
        assets = _takeCancelled(_depositRequest(requestId, controller));
        IERC20(asset).safeTransfer(receiver, assets);
        emit CancelDepositClaim(controller, receiver, _requestIdOf(requestId), msg.sender, assets);
    }

    function pendingCancelDepositRequest(uint256 requestId, address controller) external view returns (bool) {
        return _depositRequest(requestId, controller).isCancelling;
    }

    function claimableCancelDepositRequest(uint256 requestId, address controller)
        external
        view
        returns (uint256 assets)
    {
        return _depositRequest(requestId, controller).cancelled;
    }

    // ---------------------------------------------------------------------------------------------------------- Views

    function previewDeposit(uint256) external pure returns (uint256) {
        revert();
    }

    function previewMint(uint256) external pure returns (uint256) {
        revert();
    }

    function supportsInterface(bytes4 id) public pure override returns (bool) {
        return super.supportsInterface(id)
            || id == 0xce3bbe50 // ERC-7540 asynchronous deposit
            || id == 0x8bf840e3 // ERC-7887 cancellation of deposits
            || id == 0xe76cffc7; // ERC-7887 cancellation of redemptions
    }

    function _claimableAssets(Request storage request) private view returns (uint256) {
        return _toAssets(request.claimable, request.price, Math.Rounding.Floor);
    }

    function _depositRequest(uint256 requestId, address controller) private view returns (Request storage) {
        return _deposits.byId[controller][_requestIdOf(requestId)];
    }

    // ---------------------------------------------------------------------------------------------------- Share token

    function _mintShares(address to, uint256 shares) internal override {
        _share.mint(to, shares);
    }

    function _burnShares(address from, uint256 shares) internal override {
        _share.burn(from, shares);
    }

    function _moveShares(address spender, address from, address to, uint256 shares) internal override {
        bool pulls = pullsSharesByAllowance && to == address(this);
        _share.move(pulls ? address(this) : spender, from, to, shares);
    }

    function _isAllowed(address account) internal view override returns (bool) {
        return !_share.isRestricted(account);
    }
}
