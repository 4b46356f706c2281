/** What a client says it takes: media types, encodings, and the copy it holds already. */

const qualityPattern = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** Whether a page is wanted rather than JSON. A client that takes anything gets JSON. */
export function prefersHtml(accept: string | null): boolean {
  if (accept === null) return false
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

/** Whether a body is to be sent in gzip. */
export function prefersGzip(acceptEncoding: string | null): boolean {
  if (acceptEncoding === null) return false
  const qualities = qualitiesOf(acceptEncoding)
  const gzip = qualities.get('gzip') ?? qualities.get('x-gzip') ?? qualities.get('*') ?? 0
  return gzip > 0 && gzip >= (qualities.get('identity') ?? 0)
}

/** Whether `etag` is what an If-None-Match header names, compared weakly as RFC 9110 asks for reads. */
export function holdsAlready(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
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
