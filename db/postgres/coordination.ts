/** The coordination of several processes on one database. */

import type { ChangeNotifier, ExclusiveJobs, Leases } from '../../server/ports.ts'
import type { Connection } from './connection.ts'

// Long enough that a process blocked for some seconds keeps its job, and short enough that a frozen process is soon
// replaced.
const JOB_MS = 15_000
const RENEW_EVERY_MS = 5000

const LISTEN_AGAIN_MS = 250

/** The leases of payments, timed by the database's clock, which is the same for all processes. */
export function createPostgresLeases({ queryRows }: Connection): Leases {
  const owner = crypto.randomUUID()
  return {
    async take({ payer, nonce }, forMs) {
      const [taken] = await queryRows<{ again: boolean | null }>(TAKE, [payer, nonce, owner, forMs])
      if (taken === undefined) return false
      return taken.again === true ? 'again' : 'first'
    },
    release: async ({ payer, nonce }) => {
      await queryRows(GIVE, [payer, nonce, owner])
    },
    isTaken: async ({ payer, nonce }) => (await queryRows(IS_TAKEN, [payer, nonce, owner])).length === 1,
  }
}

// A lease is released by ending it now. Its row stays for some minutes (see `FORGET_OLD`) and identifies the process
// that had it.
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
 * A job runs under a lease, so a frozen or disconnected process blocks the others for only some seconds. If that
 * process resumes, two processes run the job for a while. This repeats queries but changes nothing, because writes are
 * conditional.
 */
export function createPostgresJobs(connection: Connection, jobMs = JOB_MS): ExclusiveJobs {
  return {
    async run(job, work) {
      const { take, release } = createPostgresLeases(connection)
      // No payer has such a name, so a job never collides with a payment in their common table.
      const key = { payer: '0xjob', nonce: `0x${job}` } as const
      if ((await take(key, jobMs)) === false) return false
      const renewing = setInterval(() => void take(key, jobMs).catch(() => {}), Math.min(RENEW_EVERY_MS, jobMs / 3))
      try {
        await work()
      } finally {
        clearInterval(renewing)
        // If the lease cannot be released, it expires later.
        await release(key).catch(() => {})
      }
      return true
    },
  }
}

/**
 * Calls `notify` after each new log entry, and whenever one may have been missed. Retries listening if the connection
 * fails.
 */
export function createPostgresChangeNotifier({ listen }: Connection): ChangeNotifier {
  return {
    listen(notify) {
      let isWanted = true
      const notifyIfWanted = () => {
        if (isWanted) notify()
      }
      let stop: () => unknown = () => {}
      const keepListening = async () => {
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
      void keepListening()
      return () => {
        isWanted = false
        void stop()
      }
    },
  }
}
