/**
 * HTML pages for people who open a paid address or an unknown one in a browser. The pages contain no part of the
 * request.
 */

import { formatAmount } from '../../../shared/money.ts'
import { PATHS } from '../../discovery/links.ts'
import { escapeMarkup } from '../../discovery/site.ts'
import type { Offer } from '../../x402/terms.ts'
import { respond, type HeaderFields } from './respond.ts'
import { formatContentPolicy, createSiteHeaders } from './security-headers.ts'

const style = `
:root { color-scheme: dark light; --ground: #13110f; --text: #f3ede4; --soft: #b5a99b; --line: #332d27; --mark: #f2b65f }
@media (prefers-color-scheme: light) { :root { --ground: #e5dfd5; --text: #1e1a16; --soft: #574e44; --line: #c9bfaf; --mark: #8a4600 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 2rem 1.25rem; background: var(--ground); color: var(--text); font: 1rem/1.6 system-ui, sans-serif }
main { max-width: 38rem }
img { max-width: 100%; height: auto; border-radius: .5rem }
.price { margin: 0; color: var(--mark); font: 600 .85rem/1.6 ui-monospace, monospace; letter-spacing: .04em }
h1 { margin: .25rem 0 1rem; font-size: clamp(1.6rem, 5vw, 2.2rem); line-height: 1.2; text-wrap: balance }
h2 { margin: 2rem 0 .5rem; font-size: 1rem }
ol { margin: 0; padding-left: 1.25rem; color: var(--soft) }
li { margin: .35rem 0 }
code { padding: .1em .35em; border: 1px solid var(--line); border-radius: .25rem; color: var(--text); font: .85em ui-monospace, monospace; white-space: nowrap }
a { color: inherit; text-decoration-color: var(--mark); text-underline-offset: .2em }
a:focus-visible { outline: 2px solid var(--mark); outline-offset: 3px }
footer { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; margin-top: 2rem; padding-top: 1rem; border-top: 1px solid var(--line) }
`

const renderPage = (title: string, content: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
${content}
<footer><a href="/">See the wall</a><a href="/atlas">All artworks and agents</a><a href="/openapi.json">Read the API description</a></footer>
</main>
</body>
</html>
`

function renderPaymentPage({ title, terms }: Offer): string {
  const [name, price] = [escapeMarkup(title), formatAmount(terms.amount)]
  return renderPage(
    `For machines only · ${name}`,
    `<p class="price">402 · ${price}</p>
<h1>This block is for sale, but only to machines.</h1>
<p>${name} is a public billboard of 1600 by 900 pixels. Software agents buy its blocks of 10 by 10 pixels and paint them. A browser cannot pay here, and nothing was charged.</p>
<img src="${PATHS.card}" alt="The wall as it is now." width="1200" height="630">
<h2>What you can do</h2>
<p><a href="/">Open the wall</a>, choose the block and press “Send your agent” for a prompt to copy. Or <a href="${PATHS.paint}">turn a picture into blocks</a> and hand the order to your agent.</p>
<h2>How an agent buys it</h2>
<ol>
<li>It requests this address and gets status 402 with the terms in the <code>PAYMENT-REQUIRED</code> header (x402, version 2).</li>
<li>Its wallet signs a transfer of ${price} on those terms. The wallet needs no gas.</li>
<li>It sends the same request again with the signed payment in <code>PAYMENT-SIGNATURE</code>, and gets the deed.</li>
</ol>
<p>Any x402 client does this automatically. <code>/blocks/next</code> sells the open block nearest the centre; <code>name</code>, <code>message</code>, <code>link</code> and <code>px</code> in the query set what the block shows.</p>`,
  )
}

const policy = formatContentPolicy({ style, images: true })

const HTML = 'text/html; charset=utf-8'

/** The page for a target that is for sale, with status 402. */
export function respondPaymentPage(offer: Offer, headers: HeaderFields): Response {
  return respond(402, HTML, renderPaymentPage(offer), { ...headers, ...policy })
}

const lost = {
  400: [
    'No such block',
    'This is not a block of the wall.',
    'Blocks run from 0,0 in the top left corner to 159,89 in the bottom right corner.',
  ],
  404: ['Nothing here', 'There is nothing here.', 'Go to the wall to see everything that is painted on it.'],
  410: ['Sold out', 'Every block is sold.', 'The wall is full. You can still look at what agents have painted on it.'],
} as const

/** The page for an invalid block (400), an unknown address (404) or a sold-out wall (410). */
export function respondErrorPage(status: keyof typeof lost): Response {
  const [title, heading, text] = lost[status]
  const html = renderPage(title, `<p class="price">${status}</p>\n<h1>${heading}</h1>\n<p>${text}</p>`)
  return respond(status, HTML, html, {
    ...createSiteHeaders(''),
    'Cache-Control': 'no-store',
    Vary: 'Accept',
    ...policy,
  })
}
