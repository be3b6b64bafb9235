// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @title NFT collection with all metadata and images on chain, as data URIs
/// @dev Anyone may mint because the chain is local.
contract Collectible is ERC721 {
    uint256 private _minted;

    constructor() ERC721("Harbor Lanterns", "LANTERN") {}

    function mint(address to) external {
        _minted += 1;
        _mint(to, _minted);
    }

    function tokenURI(uint256 tokenId) public view override returns (string memory) {
        _requireOwned(tokenId);
        string memory number = Strings.toString(tokenId);
        string memory image = string.concat(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><circle cx="32" cy="32" r="',
            Strings.toString(8 + ((tokenId * 7) % 20)),
            '" fill="goldenrod"/></svg>'
        );
        string memory json = string.concat(
            '{"name":"Lantern #',
            number,
            '","description":"Made up: it lights a harbor on a chain of this machine.","image":"data:image/svg+xml;base64,',
            Base64.encode(bytes(image)),
            '","attributes":[{"trait_type":"Number","value":',
            number,
            '},{"trait_type":"Light","value":"',
            tokenId % 2 == 0 ? "fixed" : "flashing",
            '"}]}'
        );
        return string.concat("data:application/json;base64,", Base64.encode(bytes(json)));
    }
}
