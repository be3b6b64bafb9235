// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {LagoonClaimsForOthers} from "./LagoonClaimsForOthers.sol";

/// @title Feature of Lagoon 0.5 and later: instant deposits while the settled valuation is valid
/// @notice A settled valuation stays valid for `totalAssetsLifespan` seconds. Deposit requests revert during that time.
abstract contract LagoonSyncDeposit is LagoonClaimsForOthers {
    using SafeERC20 for IERC20;

    function _valuationStands() internal view override returns (bool) {
        return isTotalAssetsValid();
    }

    function _renewValuation() internal override {
        Ledger storage ledger = _ledger();
        if (!ledger.isAsyncOnly) ledger.totalAssetsExpiration = uint128(block.timestamp) + ledger.totalAssetsLifespan;
    }

    function _requireSyncDeposit() internal view virtual {
        if (!isTotalAssetsValid()) revert OnlyAsyncDepositAllowed();
    }

    function _requireMayDepositNow(address receiver) internal view virtual;

    function _requireMayClaimAndRequest() internal view override {
        _requireMayRequest(msg.sender, msg.sender);
    }

    function syncDeposit(uint256 assets, address receiver, address referral)
        external
        payable
        onlyOpen
        returns (uint256 shares)
    {
        _requireSyncDeposit();
        _requireMayDepositNow(receiver);
        _requireUnderCap(assets);
        if (msg.value != 0) revert CantDepositNativeToken();

        shares = convertToShares(assets);
        uint256 fee = _feeOn(shares, _entryRate());
        shares -= fee;
        IERC20(asset()).safeTransferFrom(msg.sender, safe(), assets);
        _takeFee(FeeType.Entry, fee, _entryRate(), 0);
        _ledger().totalAssets += assets;
        _mint(receiver, shares);
        emit DepositSync(msg.sender, receiver, assets, shares);
        emit Referral(referral, msg.sender, 0, assets);
    }

    function isTotalAssetsValid() public view returns (bool) {
        return block.timestamp < _ledger().totalAssetsExpiration;
    }

    function expireTotalAssets() external onlySafe {
        _ledger().totalAssetsExpiration = 0;
    }

    function updateTotalAssetsLifespan(uint128 lifespan) external onlySafe {
        if (_ledger().isAsyncOnly) revert AsyncOnly();
        emit TotalAssetsLifespanUpdated(_ledger().totalAssetsLifespan, lifespan);
        _ledger().totalAssetsLifespan = lifespan;
    }

    function safe() public view returns (address) {
        return _roles().safe;
    }
}
