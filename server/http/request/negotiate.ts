/** Content negotiation: media types, encodings, and conditional requests. */

const qualityPattern = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** Whether a client prefers HTML to JSON. A client that accepts everything gets JSON. */
export function prefersHtml(accept: string | null): boolean {
  // This is the usual case for clients that are not browsers.
  if (accept === null || accept === '*/*') return false
  const qualities = parseQualities(accept)
  const readQuality = (type: string, range: string) =>
    qualities.get(type) ?? qualities.get(range) ?? qualities.get('*/*') ?? 0
  return readQuality('text/html', 'text/*') > readQuality('application/json', 'application/*')
}

/** Whether a client explicitly accepts Markdown and does not prefer HTML. */
export function prefersMarkdown(accept: string | null): boolean {
  const qualities = parseQualities(accept ?? '')
  const markdown = qualities.get('text/markdown') ?? 0
  return markdown > 0 && markdown >= (qualities.get('text/html') ?? 0)
}

/** The encodings of cached bodies. */
export type Encoding = 'br' | 'gzip' | 'zstd'

/**
 * Selects the offered encoding that the client prefers, or the first of several that it prefers equally; `undefined` if
 * the body must stay unencoded. Brotli is selected only if `isBrotliReady`, which is called only for a client that
 * prefers Brotli.
 */
export function chooseEncoding(
  acceptEncoding: string | null,
  offered: readonly Encoding[] = ['gzip', 'zstd'],
  isBrotliReady: () => boolean = () => true,
): Encoding | undefined {
  if (acceptEncoding === null) return undefined
  const qualities = parseQualities(acceptEncoding)
  const gzip = qualities.get('gzip') ?? qualities.get('x-gzip') ?? qualities.get('*') ?? 0
  const getQuality = (encoding: Encoding) => (encoding === 'gzip' ? gzip : (qualities.get(encoding) ?? 0))
  const chooseFrom = (encodings: readonly Encoding[]) => {
    const best = Math.max(...encodings.map(getQuality))
    if (best === 0 || best < (qualities.get('identity') ?? 0)) return undefined
    return encodings.find((encoding) => getQuality(encoding) === best)
  }
  const chosen = chooseFrom(offered)
  return chosen === 'br' && !isBrotliReady() ? chooseFrom(offered.filter((encoding) => encoding !== 'br')) : chosen
}

/** Whether If-None-Match matches `etag`, by the weak comparison of RFC 9110. */
export function matchesEtag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
  // Most clients send this form.
  if (ifNoneMatch === etag) return true
  return ifNoneMatch.split(',').some((text) => {
    const tag = text.trim()
    return tag === '*' || stripWeakPrefix(tag) === stripWeakPrefix(etag)
  })
}

const stripWeakPrefix = (etag: string) => (etag.startsWith('W/') ? etag.slice(2) : etag)

/** The q-value of each item, by the item's name in lower case. An invalid q-value counts as 0. */
function parseQualities(header: string): Map<string, number> {
  const qualities = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [item = '', ...parameters] = part.split(';').map((text) => text.trim())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    if (item !== '') qualities.set(item, qualityPattern.test(quality) ? Number(quality) : 0)
  }
  return qualities
}
