import { parseAbi } from 'viem'
import type { Address, Hex } from 'viem'
import artefacts from './artefacts.json' with { type: 'json' }

/** The address of the dollar: that of USDC on Base, the only token that stock x402 clients pay with by default. */
export const dollarAddress: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

/** The only account that may mint dollars. It has no key: the local node acts for it. */
export const minterAddress: Address = '0x000000000000000000000000000000000000d011'

/** The address of Multicall3, which is the same on every chain; the facilitator and viem expect the contract there. */
export const multicallAddress: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

export const dollarCode: Hex = `0x${artefacts.contracts.Dollar.deployedBytecode}`

/** The code of `Multicall.sol` as deployed on the chain. */
export const multicallCode: Hex = `0x${artefacts.contracts.Multicall.deployedBytecode}`

/** All functions and events of the dollar, typed for viem. */
export const dollarAbi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function MINTER() view returns (address)',
  'function TRANSFER_WITH_AUTHORIZATION_TYPEHASH() view returns (bytes32)',
  'function RECEIVE_WITH_AUTHORIZATION_TYPEHASH() view returns (bytes32)',
  'function CANCEL_AUTHORIZATION_TYPEHASH() view returns (bytes32)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address holder) view returns (uint256)',
  'function allowance(address holder, address spender) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function mint(address to, uint256 value) returns (bool)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
])
