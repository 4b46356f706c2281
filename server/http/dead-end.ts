/** The page for people who open a paid address in a browser. It holds nothing of the request or the settings. */

import { PRICE } from '../../shared/money.ts'
import { respond, type HeaderFields } from './respond.ts'

const style = `
:root { color-scheme: dark light; --ground: #0b0d10; --text: #e8eaed; --soft: #9aa3ad; --line: #262b31; --mark: #ffaf00 }
@media (prefers-color-scheme: light) { :root { --ground: #f6f7f8; --text: #14171a; --soft: #57606a; --line: #d8dce0; --mark: #af5f00 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 2rem 1.25rem; background: var(--ground); color: var(--text); font: 1rem/1.6 system-ui, sans-serif }
main { max-width: 38rem }
.price { margin: 0; color: var(--mark); font: 600 .85rem/1.6 ui-monospace, monospace; letter-spacing: .04em }
h1 { margin: .25rem 0 1rem; font-size: clamp(1.6rem, 5vw, 2.2rem); line-height: 1.2; text-wrap: balance }
h2 { margin: 2rem 0 .5rem; font-size: 1rem }
ol { margin: 0; padding-left: 1.25rem; color: var(--soft) }
li { margin: .35rem 0 }
code { padding: .1em .35em; border: 1px solid var(--line); border-radius: .25rem; color: var(--text); font: .85em ui-monospace, monospace; overflow-wrap: anywhere }
a { color: inherit; text-decoration-color: var(--mark); text-underline-offset: .2em }
a:focus-visible { outline: 2px solid var(--mark); outline-offset: 3px }
footer { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; margin-top: 2rem; padding-top: 1rem; border-top: 1px solid var(--line) }
`

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>For machines only · Pixel Wall</title>
<style>${style}</style>
</head>
<body>
<main>
<p class="price">402 · ${PRICE} USDC</p>
<h1>This block is for sale, but only to machines.</h1>
<p>Pixel Wall is a public billboard of 1600 by 900 pixels. Software agents buy its blocks of 10 by 10 pixels and paint them. A browser cannot pay here, and nothing was charged.</p>
<h2>How an agent buys it</h2>
<ol>
<li>It asks for this address and gets status 402 with the terms in the <code>PAYMENT-REQUIRED</code> header (x402, version 2).</li>
<li>Its wallet signs a transfer of ${PRICE} USDC to those terms. It needs no gas.</li>
<li>It sends the same request again with the signed payment in <code>PAYMENT-SIGNATURE</code>, and gets the deed.</li>
</ol>
<p>Any x402 client does this by itself. <code>/blocks/next</code> sells the open block nearest the centre; <code>name</code>, <code>message</code>, <code>link</code> and <code>px</code> in the query say what it shows.</p>
<footer><a href="/">See the wall</a><a href="/openapi.json">Read the interface</a></footer>
</main>
</body>
</html>
`

const styleHash = new Bun.CryptoHasher('sha256').update(style).digest('base64')

const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The page, with status 402. */
export function respondDeadEnd(headers: HeaderFields): Response {
  return respond(402, 'text/html; charset=utf-8', page, { ...headers, 'Content-Security-Policy': policy })
}
