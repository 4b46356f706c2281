/** The parts that the servers of one book share: leases, jobs and a notifier, each as unreliable as possible. */

import { StoreUnavailable } from '../../../server/domain/failure.ts'
import { toPaymentKey } from '../../../server/domain/purchase/payment.ts'
import type { ChangeNotifier, ExclusiveJobs, Leases } from '../../../server/ports.ts'
import { createFakeLeases } from '../../support/fakes/leases.ts'
import { drawFault, type World } from './world.ts'

/** One life of a server, from its start until it stops. */
export type Life = {
  readonly startedAt: number // step of the history
  diedAt: number | undefined
  skewMs: number // how far the server's clock is ahead of the true time
}

/** The ports that a server shares with the others during one life. */
export type Shared = { readonly leases: Leases; readonly jobs: ExclusiveJobs; readonly notifier: ChangeNotifier }

export type Commons = {
  createSharedPorts(life: Life): Shared
  /** Whether another living server holds a payment's lease, and no lease of that payment has ever lapsed or failed. */
  isHeldByOther(life: Life, key: string): boolean
  /** Notifies some of the servers; a server that is not notified polls. */
  notifyServers(): void
}

export function createCommons(world: World): Commons {
  const { scheduler, prng } = world
  const leases = createFakeLeases(scheduler.getElapsed)
  const listeners = new Set<{ readonly life: Life; readonly onRing: () => void }>()
  let sweeping: Life | undefined
  const holders = new Map<string, Life>()
  const lapsed = new Set<string>() // payments whose leases prove nothing any more, because one lapsed or a call failed
  const callShared = <T>(life: Life, name: string, about: string, act: () => Promise<T> | T): Promise<T> =>
    scheduler.call(life, () => {
      world.step += 1
      world.trace(() => `  ${about.slice(-4)} ${name}`)
      if (drawFault(world, 'storeBusy')) {
        lapsed.add(about)
        throw new StoreUnavailable('busy')
      }
      return act()
    })
  const recordHolder = (key: string, life: Life) => {
    if ((holders.get(key) ?? life) !== life) lapsed.add(key)
    holders.set(key, life)
  }

  return {
    isHeldByOther(life, key) {
      const holder = holders.get(key)
      return holder !== undefined && holder !== life && holder.diedAt === undefined && !lapsed.has(key)
    },
    createSharedPorts(life) {
      const { take, release, isTaken } = leases.createLeases(life)
      return {
        leases: {
          take: (key, forMs) =>
            callShared(life, 'take', toPaymentKey(key), async () => {
              // Draws no random number if the fault cannot happen, so that all other histories stay as they were.
              if (world.faults.leaseUnknown > 0 && drawFault(world, 'leaseUnknown')) {
                lapsed.add(toPaymentKey(key))
                throw new StoreUnavailable('busy')
              }
              if (drawFault(world, 'leaseLapses')) leases.endLease(key)
              const taken = await take(key, forMs)
              if (taken !== false) recordHolder(toPaymentKey(key), life)
              world.trace(() => `  ${toPaymentKey(key).slice(-4)} lease: ${taken === false ? 'elsewhere' : 'taken'}`)
              return taken
            }),
          release: (key) =>
            callShared(life, 'give', toPaymentKey(key), () => {
              if (holders.get(toPaymentKey(key)) === life) holders.delete(toPaymentKey(key))
              return release(key)
            }),
          isTaken: (key) => callShared(life, 'isTaken', toPaymentKey(key), () => isTaken(key)),
        },
        jobs: {
          async run(_, work) {
            const isOurs = await callShared(life, 'job', '', () => {
              const isTaken = sweeping !== undefined && sweeping !== life && sweeping.diedAt === undefined
              if (isTaken && !drawFault(world, 'leaseLapses')) return false
              sweeping = life
              return true
            })
            if (!isOurs) return false
            try {
              await work()
            } finally {
              if (sweeping === life) sweeping = undefined
            }
            return true
          },
        },
        notifier: {
          listen(onRing) {
            const listener = { life, onRing }
            listeners.add(listener)
            return () => void listeners.delete(listener)
          },
        },
      }
    },
    notifyServers() {
      for (const { life, onRing } of listeners) if (life.diedAt === undefined && prng.nextBoolean(0.5)) onRing()
    },
  }
}
