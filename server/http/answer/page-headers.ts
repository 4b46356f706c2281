/** What a browser is told with every page: what the page may never use, and to come back over https alone. */

import type { HeaderFields } from './respond.ts'
import type { ViewerFiles } from './viewer-files.ts'

// None of the pages asks for any of these, so nothing that gets into one can.
const unused = [
  'accelerometer',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'hid',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'serial',
  'usb',
]

const policy = unused.map((feature) => `${feature}=()`).join(', ')

const A_YEAR_SECONDS = 31_536_000

/** Headers of a page of the service at `baseUrl`. Other names of that host are left to their operator. */
export const pageHeaders = (baseUrl: string): HeaderFields => ({
  'Permissions-Policy': policy,
  ...(baseUrl.startsWith('https:') ? { 'Strict-Transport-Security': `max-age=${A_YEAR_SECONDS}` } : {}),
})

/** The same files, each with those headers. */
export function filesOver(baseUrl: string, files: ViewerFiles): ViewerFiles {
  const headers = Object.entries(pageHeaders(baseUrl))
  return (path) => {
    const file = files(path)
    if (file === undefined) return undefined
    return (request) => {
      const response = file(request)
      for (const [name, value] of headers) response.headers.set(name, value)
      return response
    }
  }
}
