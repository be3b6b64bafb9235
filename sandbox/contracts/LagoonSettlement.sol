// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonVaultBase} from "./LagoonVaultBase.sol";

/// @title What the generations from 0.2 on share: the safe repeats the valuation it settles, shares can be claimed on the
/// way to a redemption, and the `max*` views answer for claims, 0 while paused.
abstract contract LagoonSettlement is LagoonVaultBase {
    function settleDeposit(uint256 newTotalAssets) external {
        _settleDeposit(newTotalAssets);
    }

    function settleRedeem(uint256 newTotalAssets) external {
        _settleRedeem(newTotalAssets);
    }

    function close(uint256 newTotalAssets) external {
        _close(newTotalAssets);
    }

    function claimSharesAndRequestRedeem(uint256 sharesToRedeem)
        external
        onlyOpen
        whenNotPaused
        returns (uint40 requestId)
    {
        _requireMayClaimAndRequest();
        uint256 claimable = claimableDepositRequest(0, msg.sender);
        if (claimable > 0) _claimDeposit(claimable, msg.sender, msg.sender);
        return uint40(_requestRedeem(sharesToRedeem, msg.sender, msg.sender));
    }

    /// @dev From 0.5: asks for access; before, this is a way around the whitelist.
    function _requireMayClaimAndRequest() internal view virtual {}

    function maxDeposit(address controller) external view returns (uint256) {
        return paused() ? 0 : claimableDepositRequest(0, controller);
    }

    function maxMint(address controller) external view returns (uint256) {
        if (paused()) return 0;
        uint40 requestId = _ledger().lastDepositRequestId[controller];
        return _netOfEntryFee(convertToShares(claimableDepositRequest(requestId, controller), requestId), requestId);
    }

    function maxRedeem(address controller) external view returns (uint256) {
        if (paused()) return 0;
        return _redeemsAtOnce(controller) ? balanceOf(controller) : claimableRedeemRequest(0, controller);
    }

    function maxWithdraw(address controller) external view returns (uint256) {
        if (paused()) return 0;
        if (_redeemsAtOnce(controller)) {
            uint256 balance = balanceOf(controller);
            return convertToAssets(balance - _feeOn(balance, _exitRate()));
        }
        uint40 requestId = _ledger().lastRedeemRequestId[controller];
        return convertToAssets(_netOfExitFee(claimableRedeemRequest(requestId, controller), requestId), requestId);
    }
}
