/** What several processes on one store need, where there is only one. */

import type { Bell, Leases, Turns } from '../../server/ports.ts'

/** Nobody else works on anything: whatever is asked for is had, and nothing is written by another hand. */
export const alone: { readonly leases: Leases; readonly turns: Turns; readonly bell: Bell } = {
  leases: {
    take: async () => true,
    give: async () => {},
  },
  turns: {
    async alone(_, work) {
      await work()
      return true
    },
  },
  bell: { listen: () => () => {} },
}
