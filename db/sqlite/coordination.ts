/** The coordination ports of a store with only one process. */

import type { ChangeNotifier, ExclusiveJobs, Leases } from '../../server/ports.ts'

/** There is no other process, so every lease is granted and nobody else writes. */
export const singleProcess: {
  readonly leases: Leases
  readonly jobs: ExclusiveJobs
  readonly notifier: ChangeNotifier
} = {
  leases: {
    take: async () => 'first',
    release: async () => {},
    isTaken: async () => false,
  },
  jobs: {
    async run(_, work) {
      await work()
      return true
    },
  },
  notifier: { listen: () => () => {} },
}
