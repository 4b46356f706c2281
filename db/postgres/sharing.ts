/** What several processes on one database need of each other. */

import type { Bell, Leases, Turns } from '../../server/ports.ts'
import type { Connection } from './connection.ts'

// Numbers of the advisory locks under which work is done by one process at a time.
const turns = { sweep: 0x73776570 } as const

const LISTEN_AGAIN_MS = 250

/** Who works on a payment, by the clock of the database, which is the same for all. */
export function postgresLeases({ rows }: Connection): Leases {
  const owner = crypto.randomUUID()
  return {
    take: async ({ payer, nonce }, forMs) => (await rows(TAKE, [payer, nonce, owner, forMs])).length === 1,
    give: async ({ payer, nonce }) => {
      await rows(GIVE, [payer, nonce, owner])
    },
  }
}

const TAKE = `
  INSERT INTO leases (payer, nonce, owner, until)
  VALUES ($1, $2, $3::uuid, clock_timestamp() + $4::float8 * interval '1 millisecond')
  ON CONFLICT (payer, nonce) DO UPDATE SET owner = excluded.owner, until = excluded.until
  WHERE leases.owner = excluded.owner OR leases.until < clock_timestamp()
  RETURNING 1`
const GIVE = 'DELETE FROM leases WHERE payer = $1 AND nonce = $2 AND owner = $3::uuid'

/** A turn is a lock of the connection, so that it ends with the process that has it. */
export function postgresTurns({ apart }: Connection): Turns {
  return {
    alone: (name, work) =>
      apart(async ({ rows, run }) => {
        const lock = turns[name]
        const [turn] = await rows<{ mine: boolean }>(`SELECT pg_try_advisory_lock(${lock}) AS mine`)
        if (turn?.mine !== true) return false
        try {
          await work()
        } finally {
          await run(`SELECT pg_advisory_unlock(${lock})`)
        }
        return true
      }),
  }
}

/** Rings for every entry of the log, and whenever one may have been missed. Goes on trying while it cannot listen. */
export function postgresBell({ listen }: Connection): Bell {
  return {
    listen(rung) {
      let isWanted = true
      const ring = () => {
        if (isWanted) rung()
      }
      let stop: () => unknown = () => {}
      const listenOn = async () => {
        while (isWanted) {
          try {
            const listening = await listen(ring)
            stop = listening.stop
            if (isWanted) await listening.ended
            else await listening.stop()
          } catch {
            // What cannot be listened to is read by whoever polls.
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
