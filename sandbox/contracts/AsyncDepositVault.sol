// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title ERC-7540 vault with deposits by request and instant withdrawals
/// @notice It models a vault built with OpenZeppelin's ERC-7540 extension of its ERC-4626 contract. All requests have
/// the id 0. The manager fulfils a request in one or more parts and sets the price of each part. Anyone can add yield
/// by sending the asset to the vault.
contract AsyncDepositVault is ERC4626 {
    using Math for uint256;
    using SafeERC20 for IERC20;

    struct Request {
        uint256 pending;
        uint256 claimableAssets;
        uint256 claimableShares;
    }

    event DepositRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets
    );

    error NotAuthorized();
    error InvalidOwner();
    error InvalidController();
    error ExceedsPendingRequest();

    address public immutable manager;

    /// @notice The pending deposit requests add up to this many assets. `totalAssets` excludes them.
    uint256 public totalPending;

    mapping(address controller => Request) private _requests;

    constructor(IERC20 asset_, string memory name_, string memory symbol_, address manager_)
        ERC20(name_, symbol_)
        ERC4626(asset_)
    {
        manager = manager_;
    }

    function share() external view returns (address) {
        return address(this);
    }

    function totalAssets() public view override returns (uint256) {
        return super.totalAssets() - totalPending;
    }

    function requestDeposit(uint256 assets, address controller, address owner) external returns (uint256) {
        if (msg.sender != owner) revert InvalidOwner();
        _requests[controller].pending += assets;
        totalPending += assets;
        IERC20(asset()).safeTransferFrom(owner, address(this), assets);
        emit DepositRequest(controller, owner, 0, msg.sender, assets);
        return 0;
    }

    /// @notice Makes `assets` of a pending request claimable as `shares`. The ratio of the two amounts sets the price.
    function fulfillDeposit(uint256, address controller, uint256 assets, uint256 shares) external {
        if (msg.sender != manager) revert NotAuthorized();
        Request storage request = _requests[controller];
        if (assets > request.pending) revert ExceedsPendingRequest();
        request.pending -= assets;
        request.claimableAssets += assets;
        request.claimableShares += shares;
        totalPending -= assets;
        _mint(address(this), shares);
    }

    function deposit(uint256 assets, address receiver) public override returns (uint256) {
        return deposit(assets, receiver, msg.sender);
    }

    function deposit(uint256 assets, address receiver, address controller) public returns (uint256 shares) {
        uint256 most = maxDeposit(controller);
        if (assets > most) revert ERC4626ExceededMaxDeposit(controller, assets, most);
        shares = most == 0 ? 0 : assets.mulDiv(maxMint(controller), most);
        _give(receiver, controller, assets, shares);
    }

    function mint(uint256 shares, address receiver) public override returns (uint256) {
        return mint(shares, receiver, msg.sender);
    }

    function mint(uint256 shares, address receiver, address controller) public returns (uint256 assets) {
        uint256 most = maxMint(controller);
        if (shares > most) revert ERC4626ExceededMaxMint(controller, shares, most);
        assets = most == 0 ? 0 : shares.mulDiv(maxDeposit(controller), most, Math.Rounding.Ceil);
        _give(receiver, controller, assets, shares);
    }

    function _give(address receiver, address controller, uint256 assets, uint256 shares) private {
        if (msg.sender != controller) revert InvalidController();
        _requests[controller].claimableAssets -= assets;
        _requests[controller].claimableShares -= shares;
        _transfer(address(this), receiver, shares);
        emit Deposit(controller, receiver, assets, shares);
    }

    function pendingDepositRequest(uint256, address controller) external view returns (uint256) {
        return _requests[controller].pending;
    }

    function claimableDepositRequest(uint256, address controller) external view returns (uint256) {
        return _requests[controller].claimableAssets;
    }

    function maxDeposit(address controller) public view override returns (uint256) {
        return _requests[controller].claimableAssets;
    }

    function maxMint(address controller) public view override returns (uint256) {
        return _requests[controller].claimableShares;
    }

    function previewDeposit(uint256) public pure override returns (uint256) {
        revert();
    }

    function previewMint(uint256) public pure override returns (uint256) {
        revert();
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 // ERC-165
            || id == 0x2f0a18c5 // ERC-7575 vault
            || id == 0xce3bbe50; // ERC-7540 asynchronous deposit
    }
}
