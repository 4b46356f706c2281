/** What several processes on one database need of each other. */

import type { ChangeNotifier, ExclusiveJobs, Leases } from '../../server/ports.ts'
import type { Connection } from './connection.ts'

// Long enough for a process that is kept from its work for some seconds, short enough for one that stands still.
const JOB_MS = 15_000
const RENEW_EVERY_MS = 5000

const LISTEN_AGAIN_MS = 250

/** Who works on a payment, by the clock of the database, which is the same for all. */
export function postgresLeases({ rows }: Connection): Leases {
  const owner = crypto.randomUUID()
  return {
    async take({ payer, nonce }, forMs) {
      const [taken] = await rows<{ again: boolean | null }>(TAKE, [payer, nonce, owner, forMs])
      if (taken === undefined) return false
      return taken.again === true ? 'again' : 'first'
    },
    give: async ({ payer, nonce }) => {
      await rows(GIVE, [payer, nonce, owner])
    },
    isTaken: async ({ payer, nonce }) => (await rows(IS_TAKEN, [payer, nonce, owner])).length === 1,
  }
}

// A lease that was given back has ended. Its row stays for some minutes (see `FORGET_OLD`) and names the process that had it.
const TAKE = `
  WITH before AS (SELECT owner FROM leases WHERE payer = $1 AND nonce = $2)
  INSERT INTO leases (payer, nonce, owner, until)
  VALUES ($1, $2, $3::uuid, clock_timestamp() + $4::float8 * interval '1 millisecond')
  ON CONFLICT (payer, nonce) DO UPDATE SET owner = excluded.owner, until = excluded.until
  WHERE leases.owner = excluded.owner OR leases.until < clock_timestamp()
  RETURNING (SELECT owner <> $3::uuid FROM before) AS again`
const GIVE = `
  UPDATE leases SET until = clock_timestamp() - interval '1 millisecond'
  WHERE payer = $1 AND nonce = $2 AND owner = $3::uuid`

const IS_TAKEN =
  'SELECT 1 FROM leases WHERE payer = $1 AND nonce = $2 AND owner <> $3::uuid AND until >= clock_timestamp()'

/**
 * A job is a lease, so that a process that is frozen, or cut off, keeps the others from it for some seconds only. When such
 * a one goes on, two are at the job for a while, which asks questions twice and changes nothing: writes are conditional.
 */
export function postgresJobs(connection: Connection, jobMs = JOB_MS): ExclusiveJobs {
  return {
    async run(job, work) {
      const { take, give } = postgresLeases(connection)
      // No payer has such a name, so a job never meets a payment in their common table.
      const key = { payer: '0xjob', nonce: `0x${job}` } as const
      if ((await take(key, jobMs)) === false) return false
      const renewing = setInterval(() => void take(key, jobMs).catch(() => {}), Math.min(RENEW_EVERY_MS, jobMs / 3))
      try {
        await work()
      } finally {
        clearInterval(renewing)
        // What cannot be given back now ends by itself.
        await give(key).catch(() => {})
      }
      return true
    },
  }
}

/** Calls `notify` after each new log entry, and when one may have been missed. Keeps trying to listen when the connection fails. */
export function postgresChangeNotifier({ listen }: Connection): ChangeNotifier {
  return {
    listen(notify) {
      let isWanted = true
      const notifyIfWanted = () => {
        if (isWanted) notify()
      }
      let stop: () => unknown = () => {}
      const listenOn = async () => {
        while (isWanted) {
          try {
            const listening = await listen(notifyIfWanted)
            stop = listening.stop
            if (isWanted) await listening.ended
            else await listening.stop()
          } catch {
            // Polling finds the entries meanwhile.
          }
          await Bun.sleep(LISTEN_AGAIN_MS)
        }
      }
      void listenOn()
      return () => {
        isWanted = false
        void stop()
      }
    },
  }
}
