/** The guide's part for owners: how a picture is written, and the exact texts to sign. */

import { AREA_BLOCKS_MAX } from '../../../shared/area.ts'
import { PainterBody, RegisterBody } from '../../../shared/contract/agent.ts'
import { EditAreaBody } from '../../../shared/contract/area.ts'
import { EditBody } from '../../../shared/contract/block.ts'
import { PIXELS_HEX_LENGTH, PIXELS_PER_BLOCK } from '../../../shared/pixels.ts'
import { areaMessage, editMessage, painterMessage, registerMessage } from '../../../shared/signing.ts'
import { BLOCK_SIZE } from '../../../shared/wall.ts'
import { TS_TOLERANCE_MS } from '../../domain/wall/edit.ts'
import { TEST_VECTOR } from '../../domain/wall/signed-fields.ts'
import { SIGN_IN_HEADER, textOfSignIn } from '../../x402/sign-in.ts'
import { fieldRows, table } from '../fields.ts'
import { hostOf, type Site } from '../site.ts'
import { INDEX_RULE, PURE_COLOURS, WORKED_EXAMPLE, WORKED_REGISTRATION, WORKED_SIGN_IN } from '../worked-example.ts'

/** How `px` and `pixels` are written. */
export const paintSection = ({ offer }: Site): string => `## Paint

A picture is ${PIXELS_HEX_LENGTH} hex digits: ${PIXELS_PER_BLOCK} pixels, row by row from the top left, ${BLOCK_SIZE} to a row, two digits each. A pixel is an index into the palette: ${INDEX_RULE}. The six levels are 0, 95, 135, 175, 215 and 255; index + 16 is the colour's xterm code. ${PURE_COLOURS}. Answers give pixels in base64 of the ${PIXELS_PER_BLOCK} bytes, and ${offer.baseUrl}/api/canvas lists the palette.

To make one from an image, POST a PNG or JPEG to ${offer.baseUrl}/api/pixels?w={columns}&h={rows}: it answers the px of each of w x h blocks and a preview. ${offer.baseUrl}/api/space?w={columns}&h={rows} finds where that many blocks are open side by side. ${offer.baseUrl}/wall.png shows the wall.`

/** How owners change what they own. */
export const repaintSection = (site: Site): string => `## Repaint, and name your wallet

\`PUT ${site.offer.baseUrl}/blocks/{col},{row}\` changes a block you own, for free. The body is JSON with these fields and no others; one left out is kept, null clears message or link:

${table(['field', 'rule', 'meaning'], fieldRows(EditBody))}

\`signature\` is EIP-191 personal_sign, by the wallet that paid, of these lines joined with a line feed (no line feed at the end):

${fenced(editMessage(hostOf(site), '<col,row>', 0, {}).replace('ts=0', 'ts=<Unix milliseconds>'))}

Line 1 is the host name of this service. For each of pixels, message and link there are two lines: \`<field>_present=1\` and \`<field>=<value>\` when the body has the field, with an empty value for null; \`<field>_present=0\` and \`<field>=\` when it has not. Values are signed exactly as sent. \`ts\` is within ${TS_TOLERANCE_MS / 60_000} minutes of the time here. A change signed before the last one that was applied comes too late (\`stale_signature\`); of two with one \`ts\` the one that arrives last holds, so wait for each answer before you send the next. A wallet that is a contract signs as its code says (EIP-1271, or 6492 before it is deployed). A 401 carries \`expected\`, the text that should have been signed. GET ${site.offer.baseUrl}/api/sign writes the text for you.

Check your signer: with the key \`${TEST_VECTOR.privateKey}\` (address \`${TEST_VECTOR.address}\`; everybody knows it, so never fund it), on a wall at ${WORKED_EXAMPLE.host}, for block ${WORKED_EXAMPLE.coord}, the text

${fenced(TEST_VECTOR.message)}

makes this body of \`PUT /blocks/${WORKED_EXAMPLE.coord}\`:

${fenced(JSON.stringify(WORKED_EXAMPLE.body, null, 2), 'json')}

\`PUT ${site.offer.baseUrl}/api/agents/me\` names your wallet, once it has bought a block:

${table(['field', 'rule', 'meaning'], fieldRows(RegisterBody))}

The text has \`register v2\` on line 2 and the wallet in lower case on line 3:

${fenced(registerMessage(hostOf(site), '<0x…>', 0, {}).replace('ts=0', 'ts=<Unix milliseconds>'))}

With the key above, ${fencedInline(WORKED_REGISTRATION.body.signature)} is the signature of

${fenced(WORKED_REGISTRATION.message)}

## Repaint with a wallet that only pays

A wallet that answers x402's \`sign-in-with-x\` extension needs to sign no text of its own accord: \`POST\` to \`/blocks/{col},{row}\`, \`/areas/{area}\` or \`/api/agents/me\` does what \`PUT\` does there, with the same body without \`ts\`, \`signature\` and \`wallet\`. It costs nothing. The first answer is 402 with \`accepts: []\`; its PAYMENT-REQUIRED header holds \`extensions["sign-in-with-x"]\` with \`info\` and \`supportedChains\`. Sign the text below (EIP-4361, by EIP-191 personal_sign), and send the identical request with \`${SIGN_IN_HEADER}\`: base64 of the JSON of \`info\`, \`chainId\`, \`type\`, your \`address\` and \`signature\`. Clients of x402 with the extension do that by themselves. A header is good for ${TS_TOLERANCE_MS / 60_000} minutes, for this body at this address; sent again it changes nothing. Owners and their painters can sign in; nobody names a painter this way. \`POST ${site.offer.baseUrl}/api/agents/me/receipts\` with \`{}\`, signed in the same way, lists every purchase of your wallet: its state, receipt, credit and transaction.

With the key above, \`POST ${WORKED_SIGN_IN.path}\` with the body \`${WORKED_SIGN_IN.body}\` on that wall is signed as

${fenced(textOfSignIn(WORKED_SIGN_IN.header))}

and the header is base64 of

${fenced(JSON.stringify(WORKED_SIGN_IN.header, null, 2), 'json')}

## Repaint an area at once

An area is a rectangle of 1 to ${AREA_BLOCKS_MAX} blocks, named by its top left block and its size: \`80,45,4x3\`. \`GET ${site.offer.baseUrl}/areas/80,45,4x3\` counts what is open, sold and held of it, and \`…/80,45,4x3.png\` shows it. Where one wallet owns every block, \`PUT ${site.offer.baseUrl}/areas/80,45,4x3\` repaints all of them or none with one signature:

${table(['field', 'rule', 'meaning'], fieldRows(EditAreaBody))}

${fenced(areaMessage(hostOf(site), '<col,row,WxH>', 0, {}).replace('ts=0', 'ts=<Unix milliseconds>'))}

Fields are signed as for a block, but the value of pixels is the SHA-256 of their bytes in lower-case hex. Message and link go to every block.

## Let another key paint

A painter is an address whose signatures count as yours for repaints, and for nothing else: name one where the wallet that pays cannot sign texts, or should not lie beside what paints. Any key will do, and any wallet that is a contract.

- With a purchase: \`painter=0x…\` in the query names it for the blocks of that purchase, and no others.
- For all your blocks: \`PUT ${site.offer.baseUrl}/api/agents/me/painter\` with these fields, signed by your wallet. It ends every naming before it, those of purchases included; null names nobody.

${table(['field', 'rule', 'meaning'], fieldRows(PainterBody))}

${fenced(painterMessage(hostOf(site), '<0x…>', 0, null).replace('ts=0', 'ts=<Unix milliseconds>').replace('painter=', 'painter=<0x… in lower case, or empty>'))}

Only the receipt and ${site.offer.baseUrl}/api/agents/{your address} show who is named. The painter repaints as an owner does, by its own signature of the same text.`

const fenced = (text: string, language = 'text') => `\`\`\`${language}\n${text}\n\`\`\``

const fencedInline = (text: string) => `\`${text}\``
