/** The security headers: of every response, of the service's address, and of each kind of page. */

type Fields = Readonly<Record<string, string>>

/** For every response: browsers must not guess the media type, and must not send the address as a referrer. */
export const EVERY_RESPONSE: Fields = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

// No page uses these features, so injected code cannot use them either.
const UNUSED_FEATURES =
  'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=()'

const A_YEAR_SECONDS = 31_536_000

/** For the pages of the service at `baseUrl` and their files. HTTPS is enforced for this host name only, because the operator may use other names. */
export const siteHeaders = (baseUrl: string): Fields => ({
  'Permissions-Policy': UNUSED_FEATURES,
  ...(baseUrl.startsWith('https:') ? { 'Strict-Transport-Security': `max-age=${A_YEAR_SECONDS}` } : {}),
})

/** The wall, the page where owners sign, or a page without scripts whose only style is `style`. */
export type PageKind = 'wall' | 'paint' | { readonly style: string; readonly images: boolean }

/** For a page: what it may load, and whether other sites may show it in a frame. */
export const contentPolicy = (page: PageKind): Fields => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    ...sourcesOf(page),
    "base-uri 'none'",
    "form-action 'none'",
    // Other sites may embed the wall. A frame around a page where an owner signs would allow clickjacking.
    ...(page === 'wall' ? [] : ["frame-ancestors 'none'"]),
  ].join('; '),
})

function sourcesOf(page: PageKind): readonly string[] {
  if (typeof page === 'object') return [`style-src ${sourceOf(page.style)}`, ...(page.images ? ["img-src 'self'"] : [])]
  // All scripts and styles are files of this service; none is inline.
  const files = ['script-src', 'style-src', 'img-src', 'connect-src', 'manifest-src'].map((kind) => `${kind} 'self'`)
  // The page where pictures are converted does so in a worker.
  return page === 'paint' ? [...files, "worker-src 'self'"] : files
}

/** The hash of an inline style, as a content security policy names it. */
const sourceOf = (style: string): string => `'sha256-${new Bun.CryptoHasher('sha256').update(style).digest('base64')}'`
