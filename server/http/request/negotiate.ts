/** What a client says it takes: media types, encodings, and the copy it holds already. */

const qualityPattern = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** Whether a page is wanted rather than JSON. A client that takes anything gets JSON. */
export function prefersHtml(accept: string | null): boolean {
  // What nearly every client sends that is no browser.
  if (accept === null || accept === '*/*') return false
  const qualities = qualitiesOf(accept)
  const of = (type: string, range: string) => qualities.get(type) ?? qualities.get(range) ?? qualities.get('*/*') ?? 0
  return of('text/html', 'text/*') > of('application/json', 'application/*')
}

/** Whether Markdown is asked for by name, and a page no more than it. */
export function prefersMarkdown(accept: string | null): boolean {
  const qualities = qualitiesOf(accept ?? '')
  const markdown = qualities.get('text/markdown') ?? 0
  return markdown > 0 && markdown >= (qualities.get('text/html') ?? 0)
}

/** Content codings that bodies are kept in. */
export type Encoding = 'gzip' | 'zstd'

/** The coding a body is to be sent in; gzip, the smaller one, where the client has no preference. */
export function preferredEncoding(acceptEncoding: string | null): Encoding | undefined {
  if (acceptEncoding === null) return undefined
  const qualities = qualitiesOf(acceptEncoding)
  const any = qualities.get('*') ?? 0
  const gzip = qualities.get('gzip') ?? qualities.get('x-gzip') ?? any
  const zstd = qualities.get('zstd') ?? 0
  const best = Math.max(gzip, zstd)
  if (best === 0 || best < (qualities.get('identity') ?? 0)) return undefined
  return gzip === best ? 'gzip' : 'zstd'
}

/** Whether a body is to be sent in gzip. */
export const prefersGzip = (acceptEncoding: string | null): boolean => preferredEncoding(acceptEncoding) === 'gzip'

/** Whether `etag` is what an If-None-Match header names, compared weakly as RFC 9110 asks for reads. */
export function holdsAlready(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
  // What nearly every client sends.
  if (ifNoneMatch === etag) return true
  return ifNoneMatch.split(',').some((text) => {
    const tag = text.trim()
    return tag === '*' || withoutWeakness(tag) === withoutWeakness(etag)
  })
}

const withoutWeakness = (etag: string) => (etag.startsWith('W/') ? etag.slice(2) : etag)

/** The q-value of each item in lower case; one that cannot be read counts as refused. */
function qualitiesOf(header: string): Map<string, number> {
  const qualities = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [item = '', ...parameters] = part.split(';').map((text) => text.trim())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    if (item !== '') qualities.set(item, qualityPattern.test(quality) ? Number(quality) : 0)
  }
  return qualities
}
