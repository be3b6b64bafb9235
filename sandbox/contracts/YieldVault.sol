// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

/// @title Synchronous ERC-4626 vault that stands for the many vaults with instant deposits
/// @notice Anyone can add yield by sending the asset to the vault. The owner may pause deposits and withdrawals, and
/// cap deposits. `maxDeposit` reflects both, as ERC-4626 requires.
contract YieldVault is ERC4626, Ownable, Pausable {
    /// @notice Deposits may raise `totalAssets` to this amount at most. The value 2^256-1 means no cap.
    uint256 public depositCap = type(uint256).max;

    constructor(IERC20 asset_, string memory name_, string memory symbol_, address owner_)
        ERC20(name_, symbol_)
        ERC4626(asset_)
        Ownable(owner_)
    {}

    function pause() external onlyOwner {
        _pause();
    }

    function unpause() external onlyOwner {
        _unpause();
    }

    function setDepositCap(uint256 cap) external onlyOwner {
        depositCap = cap;
    }

    function maxDeposit(address) public view virtual override returns (uint256) {
        if (paused()) return 0;
        if (depositCap == type(uint256).max) return type(uint256).max;
        uint256 held = totalAssets();
        return held >= depositCap ? 0 : depositCap - held;
    }

    function maxMint(address receiver) public view virtual override returns (uint256) {
        uint256 assets = maxDeposit(receiver);
        return assets == type(uint256).max ? assets : convertToShares(assets);
    }

    function maxWithdraw(address owner_) public view virtual override returns (uint256) {
        return paused() ? 0 : super.maxWithdraw(owner_);
    }

    function maxRedeem(address owner_) public view virtual override returns (uint256) {
        return paused() ? 0 : super.maxRedeem(owner_);
    }

    // `whenNotPaused` runs first, so that a paused vault reverts with EnforcedPause, not ERC4626ExceededMaxDeposit.
    function deposit(uint256 assets, address receiver) public virtual override whenNotPaused returns (uint256) {
        return super.deposit(assets, receiver);
    }

    function mint(uint256 shares, address receiver) public virtual override whenNotPaused returns (uint256) {
        return super.mint(shares, receiver);
    }

    function withdraw(uint256 assets, address receiver, address owner_)
        public
        virtual
        override
        whenNotPaused
        returns (uint256)
    {
        return super.withdraw(assets, receiver, owner_);
    }

    function redeem(uint256 shares, address receiver, address owner_)
        public
        virtual
        override
        whenNotPaused
        returns (uint256)
    {
        return super.redeem(shares, receiver, owner_);
    }
}
