/** The guide's part for whoever signs by hand: the typed data and the header, with the real terms. */

import { AUTHORIZATION_TYPES } from '../../x402/authorization.ts'
import { requirements, type Site } from '../site.ts'

/** Everything that has to be built when no x402 client is at hand. */
export function payByHandSection(site: Site): string {
  const accepted = requirements(site)
  const authorization = {
    from: '<your address>',
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: '0',
    validBefore: `<Unix seconds: now + at most ${accepted.maxTimeoutSeconds}>`,
    nonce: '<0x and 64 hex digits, random, new for each purchase>',
  }
  const payload = {
    x402Version: 2,
    accepted,
    payload: { signature: '<0x…>', authorization },
  }
  return `## Pay by hand

Sign this typed data (EIP-712; the transfer of EIP-3009) with the wallet that pays. It needs no gas and no approval, and a wallet that is a contract signs as its code says (EIP-1271; EIP-6492 before it is deployed, where the facilitator takes its factory):

${inJson({ domain: domainOf(site), types: AUTHORIZATION_TYPES, primaryType: 'TransferWithAuthorization', message: authorization })}

Put the signature and the same authorization into this object. \`accepted\` repeats the terms of the 402:

${inJson(payload)}

Base64 of that JSON (standard alphabet, with padding) is the value of the PAYMENT-SIGNATURE header. Send the identical request with it, within the time you signed for. The 200 carries a PAYMENT-RESPONSE header, base64 of \`{success, payer, transaction, network, amount}\`. Keep the signed header until you have that answer.`
}

function domainOf(site: Site) {
  const { terms, assetName, assetVersion } = site.offer
  return {
    name: assetName,
    version: assetVersion,
    chainId: Number(terms.network.split(':')[1]),
    verifyingContract: requirements(site).asset,
  }
}

// Each member of the type on one line, as such types are usually written.
const memberPattern = /\{\s+"name": ("\w+"),\s+"type": ("\w+")\s+\}/g

const inJson = (value: unknown) =>
  `\`\`\`json\n${JSON.stringify(value, null, 2).replaceAll(memberPattern, '{ "name": $1, "type": $2 }')}\n\`\`\``
