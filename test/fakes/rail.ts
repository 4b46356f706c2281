/** A rail on which payments are taken, whatever is heard of it. */

import type { RailWatch } from '../../server/usecases/watch-rail.ts'

export const armedRail: RailWatch = {
  state: () => 'armed',
  heard: () => {},
  fault: () => null,
  probe: async () => {},
  reconciled: () => {},
}
