// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title The share token of an asynchronous vault: an ERC-20 of its own at an address of its own, as ERC-7575 allows.
/// @notice The vault mints, burns and moves shares. A restricted account can neither send nor receive any, as issuers of
/// regulated assets decide.
/// @dev Anyone may restrict: the chain is a local one.
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

    /// @notice A transfer that `spender` asks the vault for: of its own shares, or of what it has an allowance over.
    function move(address spender, address from, address to, uint256 shares) external onlyVault {
        if (spender != from) _spendAllowance(from, spender, shares);
        _transfer(from, to, shares);
    }

    function restrict(address account, bool restricted) external {
        isRestricted[account] = restricted;
    }

    /// @notice The vault of an asset: ERC-7575 leaves room for several.
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
