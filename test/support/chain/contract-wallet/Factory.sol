// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A wallet that is a contract (EIP-1271): it signs whatever its owner's key signs.
contract Wallet {
    address private immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        bool genuine = signature.length == 65 && ecrecover(digest, uint8(signature[64]), r, s) == owner;
        return genuine ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// Code for an account with a key to delegate to (EIP-7702): it signs whatever the account's own key signs.
contract Account {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        bool genuine = signature.length == 65 && ecrecover(digest, uint8(signature[64]), r, s) == address(this);
        return genuine ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// Deploys an owner's wallet, always to the same address, so that the address is known beforehand (EIP-6492).
contract Factory {
    function deploy(address owner) external returns (Wallet) {
        return new Wallet{salt: 0}(owner);
    }
}
