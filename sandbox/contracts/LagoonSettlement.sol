// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonVaultBase} from "./LagoonVaultBase.sol";

/// @title Base of Lagoon 0.2 and later, in which the safe repeats the valuation that it settles
/// @notice A settlement with a different valuation reverts. Users can claim shares and request their redemption in one
/// call. The `max*` views return claimable amounts, and 0 while the vault is paused. A closed vault's redemption limits
/// fall back to the share balance.
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

    /// @dev Lagoon 0.5 and later check access here. Earlier versions do not, so the call bypasses the whitelist.
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
