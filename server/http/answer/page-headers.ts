/** Security headers of every page: browser features that are switched off, and HTTPS only. */

import { withHeaders } from './cached-response.ts'
import type { HeaderFields } from './respond.ts'
import type { ViewerFiles } from './viewer-files.ts'

// No page uses these features, so injected code cannot use them either.
const policy =
  'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=()'

const A_YEAR_SECONDS = 31_536_000

/** Headers of a page of the service at `baseUrl`. Other names of that host are left to their operator. */
export const pageHeaders = (baseUrl: string): HeaderFields => ({
  'Permissions-Policy': policy,
  ...(baseUrl.startsWith('https:') ? { 'Strict-Transport-Security': `max-age=${A_YEAR_SECONDS}` } : {}),
})

/** The same files, each with those headers. */
export function filesOver(baseUrl: string, files: ViewerFiles): ViewerFiles {
  const headers = pageHeaders(baseUrl)
  return (path) => {
    const file = files(path)
    return file && withHeaders(file, headers)
  }
}
