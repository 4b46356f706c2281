/** Bugs of the client that keeps what it signs. */

import type { Mutant } from './mutant.ts'

const BUYER = 'server/client/buyer.ts'

export const mutantsOfClients: readonly Mutant[] = [
  {
    name: 'a client takes what was paid for nothing for a refusal',
    file: BUYER,
    from: `  if (isPaid(error)) throw paidForNothing(error, await saved.setAside())\n`,
    to: '',
  },
  {
    name: 'a client drops a payment that may still move',
    file: BUYER,
    from: `if (error.charged !== 'unknown') await saved.remove()`,
    to: 'await saved.remove()',
  },
  {
    name: 'a client takes whatever answers for the wall',
    file: BUYER,
    from: 'return error !== undefined && FINAL_STATUSES.includes(response.status)',
    to: 'return response.status < 500',
    isCheap: true,
  },
  {
    name: 'a client takes a deed for the last word on its payment',
    file: BUYER,
    from: 'if (response.ok) return await isReceipt(response)',
    to: 'if (response.ok) return true',
    isCheap: true,
  },
  {
    name: 'a client saves a payment once it is answered',
    file: BUYER,
    from: `      saved = await payments.save({ ...order, payment })
      return await send(saved)`,
    to: `      const answer = await send({ ...order, payment })
      saved = await payments.save({ ...order, payment })
      return answer`,
    isCheap: true,
  },
  {
    name: 'a client signs anew while the same order is open',
    file: BUYER,
    from: 'const unfinished = takeOrdered(open, order)',
    to: 'const unfinished = takeOrdered([...open].slice(open.length), order)',
  },
  {
    name: 'a client does not look at what earlier processes left',
    file: BUYER,
    from: 'for (const saved of await payments.list())',
    to: 'for (const saved of (await payments.list()).slice(1))',
    isCheap: true,
  },
]
