/** A rail that accepts payments. */

import type { PaymentHealth } from '../../../server/health/payment-health.ts'

export const armedRail: PaymentHealth = {
  readState: () => 'armed',
  readFault: () => null,
  probe: async () => {},
  computeProbeDelay: () => 8000,
  setWaitReason: () => {},
  markReconciled: () => {},
  suspend: () => {},
}
