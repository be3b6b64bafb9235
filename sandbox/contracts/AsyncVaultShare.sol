// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title Separate ERC-20 share token of an asynchronous vault, as ERC-7575 allows
/// @notice The vault mints, burns and moves shares. A restricted account can neither send nor receive shares, like an
/// account that an issuer of regulated assets excludes.
/// @dev Anyone may restrict accounts because the chain is local.
contract AsyncVaultShare is ERC20 {
    address private immutable _vault;
    uint8 private immutable _decimals;

    mapping(address account => bool) public isRestricted;

    error NotAuthorized();
    error TransferNotAllowed();

    constructor(string memory name_, string memory symbol_, uint8 decimals_) ERC20(name_, symbol_) {
        _vault = msg.sender;
        _decimals = decimals_;
    }

    modifier onlyVault() {
        if (msg.sender != _vault) revert NotAuthorized();
        _;
    }

    function mint(address to, uint256 shares) external onlyVault {
        _mint(to, shares);
    }

    function burn(address from, uint256 shares) external onlyVault {
        _burn(from, shares);
    }

    /// @notice Moves shares of `from` for `spender`, who needs an allowance unless it is `from`.
    function move(address spender, address from, address to, uint256 shares) external onlyVault {
        if (spender != from) _spendAllowance(from, spender, shares);
        _transfer(from, to, shares);
    }

    function restrict(address account, bool restricted) external {
        isRestricted[account] = restricted;
    }

    /// @notice Returns the same vault for every asset. ERC-7575 allows one vault per asset.
    function vault(address) external view returns (address) {
        return _vault;
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 // ERC-165
            || id == 0xf815c03d; // ERC-7575 share
    }

    function _update(address from, address to, uint256 shares) internal override {
        if (isRestricted[from] || isRestricted[to]) revert TransferNotAllowed();
        super._update(from, to, shares);
    }
}
