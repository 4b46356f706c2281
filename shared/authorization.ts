/** What a payer signs: the one message of the token's that moves money for its bearer (EIP-3009), as EIP-712 writes it. */

/** The message's fields. */
export const AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** The name of that type, which EIP-712 calls primary. */
export const PRIMARY_TYPE = 'TransferWithAuthorization' satisfies keyof typeof AUTHORIZATION_TYPES
