/** The security headers for every response, for the service's own pages, and for each kind of page. */

type Fields = Readonly<Record<string, string>>

/** For every response: browsers must not guess the media type, and must not send the page's address as a referrer. */
export const EVERY_RESPONSE: Fields = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

// No page uses these features, so injected code cannot use them either.
const UNUSED_FEATURES =
  'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=()'

const A_YEAR_SECONDS = 31_536_000

/**
 * For the pages of the service at `baseUrl` and their files. HTTPS is enforced for this host name only, because the
 * operator may use its subdomains for other services.
 */
export const createSiteHeaders = (baseUrl: string): Fields => ({
  'Permissions-Policy': UNUSED_FEATURES,
  ...(baseUrl.startsWith('https:') ? { 'Strict-Transport-Security': `max-age=${A_YEAR_SECONDS}` } : {}),
})

/**
 * A page that Vite built (the wall, or the page where owners sign), or a page that has no scripts and no style except
 * `style`.
 */
export type PageKind =
  | { readonly built: 'wall' | 'paint'; readonly html: string }
  | { readonly style: string; readonly images: boolean }

/** The rules of a page: what the page may load, and whether other sites may show it in a frame. */
export const formatContentPolicy = (page: PageKind): Fields => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    ...listSources(page),
    "base-uri 'none'",
    "form-action 'none'",
    // Other sites may embed the wall. A frame around a page where an owner signs would allow clickjacking.
    ...('built' in page && page.built === 'wall' ? [] : ["frame-ancestors 'none'"]),
  ].join('; '),
})

function listSources(page: PageKind): readonly string[] {
  if ('style' in page) return [`style-src ${hashSource(page.style)}`, ...(page.images ? ["img-src 'self'"] : [])]
  const files = ["img-src 'self'", "connect-src 'self'", "manifest-src 'self'"]
  return [
    ...(['script', 'style'] as const).map((tag) =>
      [`${tag}-src 'self'`, ...listInlineSources(page.html, tag)].join(' '),
    ),
    ...files,
    // The page that converts pictures does so in a worker.
    ...(page.built === 'paint' ? ["worker-src 'self'"] : []),
  ]
}

/**
 * The hashes of a page's inline scripts and styles, which are in tags without attributes. All other scripts and styles
 * are files of this service.
 */
const listInlineSources = (html: string, tag: 'script' | 'style') =>
  Array.from(html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs')), ([, content = '']) => hashSource(content))

/** The hash of an inline style or script, as a content security policy contains it. */
const hashSource = (content: string): string =>
  `'sha256-${new Bun.CryptoHasher('sha256').update(content).digest('base64')}'`
