// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LagoonVaultBase} from "./LagoonVaultBase.sol";

/// @title Base of Lagoon 0.1 to 0.5, with an optional whitelist
/// @notice `getRolesStorage` returns the roles, and `feeRates` returns two fee rates.
abstract contract LagoonWhitelist is LagoonVaultBase {
    struct RolesView {
        address whitelistManager;
        address feeReceiver;
        address safe;
        address feeRegistry;
        address valuationManager;
    }

    struct RatesView {
        uint16 managementRate;
        uint16 performanceRate;
    }

    event WhitelistDisabled();

    /// @dev Lagoon 0.5.0 and earlier check only the owner of the assets or shares.
    function _requireMayRequest(address owner_, address) internal view virtual override {
        if (!isWhitelisted(owner_)) revert NotWhitelisted();
    }

    function isWhitelisted(address account) public view returns (bool) {
        return _access().accessMode == AccessMode.Blacklist || _access().isWhitelisted[account];
    }

    function addToWhitelist(address[] calldata accounts) external onlyWhitelistManager {
        _setWhitelisted(accounts, true);
    }

    function revokeFromWhitelist(address[] calldata accounts) external onlyWhitelistManager {
        _setWhitelisted(accounts, false);
    }

    function disableWhitelist() external onlyOwner {
        _access().accessMode = AccessMode.Blacklist;
        emit WhitelistDisabled();
    }

    function _setWhitelisted(address[] calldata accounts, bool authorized) private {
        for (uint256 i = 0; i < accounts.length; i++) {
            _access().isWhitelisted[accounts[i]] = authorized;
            emit WhitelistUpdated(accounts[i], authorized);
        }
    }

    function getRolesStorage() external view returns (RolesView memory) {
        Roles storage roles = _roles();
        return RolesView(
            roles.whitelistManager, roles.feeReceiver, roles.safe, roles.feeRegistry, roles.valuationManager
        );
    }

    function feeRates() external view returns (RatesView memory) {
        return RatesView(_fees().rates.managementRate, _fees().rates.performanceRate);
    }
}
