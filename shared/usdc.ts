/** USDC as used by walls: the supported networks, and the signed message that transfers it. */

/** The fields that a payer signs (EIP-3009), in EIP-712 form. */
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

/** The name of this type, which EIP-712 calls the primary type. */
export const PRIMARY_TYPE = 'TransferWithAuthorization' satisfies keyof typeof AUTHORIZATION_TYPES

/** The supported networks by CAIP-2 name. The token on each is USDC, which supports signed transfers. */
export const networks = {
  'eip155:8453': {
    name: 'Base',
    nameV1: 'base',
    publicUrl: 'https://mainnet.base.org',
    token: {
      address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      name: 'USD Coin',
      version: '2',
    },
  },
  'eip155:84532': {
    name: 'Base Sepolia',
    nameV1: 'base-sepolia',
    publicUrl: 'https://sepolia.base.org',
    token: {
      address: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
      name: 'USDC',
      version: '2',
    },
  },
  'eip155:1': {
    name: 'Ethereum',
    nameV1: 'ethereum',
    publicUrl: 'https://ethereum.reth.rs/rpc',
    token: {
      address: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
      name: 'USD Coin',
      version: '2',
    },
  },
  'eip155:137': {
    name: 'Polygon',
    nameV1: 'polygon',
    publicUrl: 'https://polygon.drpc.org',
    token: {
      address: '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359',
      name: 'USD Coin',
      version: '2',
    },
  },
  'eip155:42161': {
    name: 'Arbitrum One',
    publicUrl: 'https://arb1.arbitrum.io/rpc',
    token: {
      address: '0xaf88d065e77c8cc2239327c5edb3a432268e5831',
      name: 'USD Coin',
      version: '2',
    },
  },
  'eip155:421614': {
    name: 'Arbitrum Sepolia',
    publicUrl: 'https://sepolia-rollup.arbitrum.io/rpc',
    token: {
      address: '0x75faf114eafb1bdbe2f0316df893fd58ce46aa4d',
      name: 'USD Coin',
      version: '2',
    },
  },
  'eip155:43114': {
    name: 'Avalanche',
    nameV1: 'avalanche',
    publicUrl: 'https://api.avax.network/ext/bc/C/rpc',
    token: {
      address: '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e',
      name: 'USD Coin',
      version: '2',
    },
  },
  'eip155:143': {
    name: 'Monad',
    nameV1: 'monad',
    publicUrl: 'https://rpc.monad.xyz',
    token: {
      address: '0x754704bc059f8c67012fed69bc8a327a5aafb603',
      name: 'USDC',
      version: '2',
    },
  },
  'eip155:42220': {
    name: 'Celo',
    nameV1: 'celo',
    publicUrl: 'https://forno.celo.org',
    token: {
      address: '0xceba9300f2b948710d2653dd7b07f33a8b32118c',
      name: 'USDC',
      version: '2',
    },
  },
  'eip155:11142220': {
    name: 'Celo Sepolia Testnet',
    publicUrl: 'https://forno.celo-sepolia.celo-testnet.org',
    token: {
      address: '0x01c5c0122039549ad1493b8220cabedd739bc44e',
      name: 'USDC',
      version: '2',
    },
  },
  'eip155:1329': {
    name: 'Sei Network',
    nameV1: 'sei',
    publicUrl: 'https://evm-rpc.sei-apis.com/',
    token: {
      address: '0xe15fc38f6d8c56af07bbcbe3baf5708a2bf42392',
      name: 'USDC',
      version: '2',
    },
  },
  'eip155:1328': {
    name: 'Sei Testnet',
    nameV1: 'sei-testnet',
    publicUrl: 'https://evm-rpc-testnet.sei-apis.com',
    token: {
      address: '0x4fcf1784b31630811181f670aea7a7bef803eaed',
      name: 'USDC',
      version: '2',
    },
  },
  'eip155:51': {
    name: 'Apothem Network',
    publicUrl: 'https://erpc.apothem.network',
    token: {
      address: '0xb5ab69f7bbada22b28e79c8ffaece55ef1c771d4',
      name: 'USDC',
      version: '2',
    },
  },
} as const

/** The CAIP-2 name of a supported network. */
export type Network = keyof typeof networks

/** Whether walls support a network. */
export const isNetwork = (text: string): text is Network => Object.hasOwn(networks, text)

/** The common name of a network, such as `Base`. */
export const formatNetworkName = (network: string): string => (isNetwork(network) ? networks[network].name : network)
