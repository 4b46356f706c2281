/** A rail on which payments are taken. */

import type { RailWatch } from '../../server/usecases/watch-rail.ts'

export const armedRail: RailWatch = {
  state: () => 'armed',
  fault: () => null,
  probe: async () => {},
  probeInMs: () => 8000,
  reconciled: () => {},
  suspend: () => {},
}
