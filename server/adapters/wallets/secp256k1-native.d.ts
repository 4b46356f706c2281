// The package's own types are for its main file, which silently falls back to slow JavaScript.
declare module 'secp256k1/bindings.js' {
  const native: {
    ecdsaRecover(signature: Uint8Array, recoveryBit: number, digest: Uint8Array, compressed: boolean): Uint8Array
    ecdsaSign(digest: Uint8Array, secret: Uint8Array): { readonly signature: Uint8Array; readonly recid: number }
    publicKeyCreate(secret: Uint8Array, compressed: boolean): Uint8Array
  }
  export default native
}
