/** A rail that accepts payments. */

import type { PaymentHealth } from '../../../server/health/payment-health.ts'

export const armedRail: PaymentHealth = {
  state: () => 'armed',
  fault: () => null,
  probe: async () => {},
  probeInMs: () => 8000,
  waitsFor: () => {},
  reconciled: () => {},
  suspend: () => {},
}
