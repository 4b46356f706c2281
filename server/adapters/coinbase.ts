/** Keys for Coinbase's facilitator. */

import type { FacilitatorConfig } from '@x402/core/http'

/** Signs each call with the operator's keys. The package is loaded only by those who use it, because it is large. */
export async function coinbaseAuth(id: string, secret: string): Promise<FacilitatorConfig['createAuthHeaders']> {
  const { createCdpAuthHeaders } = await import('@coinbase/x402')
  return createCdpAuthHeaders(id, secret)
}
