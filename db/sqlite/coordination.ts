/** What several processes on one store need, where there is only one. */

import type { ChangeNotifier, ExclusiveJobs, Leases } from '../../server/ports.ts'

/** Nobody else works on anything: whatever is asked for is had, and nothing is written by another hand. */
export const singleProcess: {
  readonly leases: Leases
  readonly jobs: ExclusiveJobs
  readonly notifier: ChangeNotifier
} = {
  leases: {
    take: async () => 'first',
    give: async () => {},
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
