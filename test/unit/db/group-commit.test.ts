import { expect, test } from 'bun:test'
import { CommitUnknown } from '../../../db/postgres/errors.ts'
import { createGroupCommit, type Write } from '../../../db/postgres/group-commit.ts'
import { doNothing, type Lockable, type Tx } from '../../../db/tx.ts'
import { catchFailure } from '../../support/engine.ts'
import { createWalletAddress } from '../../support/samples.ts'

// Goal: writers that wait at the same time share a transaction, and each gets its own result. Method: transactions that
// end when the test says so.

type Group = { readonly names: readonly string[]; readonly end: () => void; readonly fail: (error: unknown) => void }

/** Writers whose transactions the test ends. `lockedByOthers` lists what other processes have locked. */
function createWriters(lockedByOthers: readonly Lockable[] = []) {
  const groups: Group[] = []
  const alone: string[] = []
  const names = new Map<readonly Lockable[], string>()
  const runWork = <T>({ work }: Write<T>): T => {
    const step = work().next()
    if (step.done !== true) throw new Error('the work of these writers has no statements')
    return step.value
  }
  const write = createGroupCommit({
    async commitAlone(one) {
      alone.push(names.get(one.about) ?? '')
      return runWork(one)
    },
    commitTogether: (writes) =>
      new Promise((resolve, reject) => {
        groups.push({
          names: writes.map(({ about }) => names.get(about) ?? ''),
          end: () =>
            resolve(
              writes.map((one) => (one.about.some((it) => lockedByOthers.includes(it)) ? undefined : runWork(one))),
            ),
          fail: reject,
        })
      }),
  })
  return {
    groups,
    alone,
    /** Starts a write with this name about a wallet; if `work` is given, the write returns the result of `work`. */
    write(name: string, payer: number, work?: () => Tx<string>): Promise<string> {
      const about = [createWalletAddress(payer)]
      names.set(about, name)
      return write({
        about,
        *work() {
          yield* doNothing()
          return work === undefined ? `${name} is written` : yield* work()
        },
      })
    },
    /** Resolves once the writers that wait now have begun, unless a group is in progress. */
    begin: takeTurns,
    /** Ends a group, and resolves once its writers have their results and the next group has begun. */
    async end(at: number) {
      groups[at]?.end()
      await takeTurns()
    },
  }
}

/** Waits for more turns of the event loop than a group needs to begin. */
async function takeTurns() {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
}

test('a lone writer does not wait for other writers', async () => {
  const { groups, write, begin, end } = createWriters()
  const first = write('a', 1)
  await begin()
  expect(groups.map(({ names }) => names)).toEqual([['a']])
  await end(0)
  expect(await first).toBe('a is written')
})

test('writers that arrive while a group is in progress share the next group, and each gets its own result', async () => {
  const { groups, write, begin, end } = createWriters()
  const first = write('a', 0)
  await begin()
  const others = ['b', 'c', 'd'].map((name, at) => write(name, at + 1))
  await begin()
  expect(groups.map(({ names }) => names)).toEqual([['a']])
  await end(0)
  expect(groups.map(({ names }) => names)).toEqual([['a'], ['b', 'c', 'd']])
  await end(1)
  expect(await first).toBe('a is written')
  expect(await Promise.all(others)).toEqual(['b', 'c', 'd'].map((name) => `${name} is written`))
})

test('writers that write again as soon as they have their results share the next group', async () => {
  const { groups, write, begin, end } = createWriters()
  const writeTwice = async (name: string, payer: number) => {
    await write(`${name}1`, payer)
    await write(`${name}2`, payer)
  }
  const all = ['a', 'b', 'c'].map(writeTwice)
  await begin()
  await end(0)
  expect(groups.map(({ names }) => names)).toEqual([
    ['a1', 'b1', 'c1'],
    ['a2', 'b2', 'c2'],
  ])
  await end(1)
  await Promise.all(all)
})

test('two writes about the same wallet are never in one group, and keep their order', async () => {
  const { groups, write, begin, end } = createWriters()
  const all = [write('a', 1), write('b', 1), write('c', 2), write('d', 1)]
  await begin()
  expect(groups.map(({ names }) => names)).toEqual([['a', 'c']])
  await end(0)
  await end(1)
  await end(2)
  expect(groups.map(({ names }) => names)).toEqual([['a', 'c'], ['b'], ['d']])
  await Promise.all(all)
})

test('if another process has locked the wallet of a write, that write runs alone, and the rest of its group completes without it', async () => {
  const { alone, groups, write, begin, end } = createWriters([createWalletAddress(3)])
  const all = [3, 4].map((payer) => write(`of ${payer}`, payer))
  await begin()
  expect(groups[0]?.names).toEqual(['of 3', 'of 4'])
  await end(0)
  expect(alone).toEqual(['of 3'])
  expect(await Promise.all(all)).toHaveLength(2)
})

test('if one write of a group fails, every write of the group is retried alone, and only the failing one fails', async () => {
  const { alone, groups, write, begin } = createWriters()
  const failing = catchFailure(
    write('a', 1, () => {
      throw new Error('a fails')
    }),
  )
  const other = write('b', 2)
  await begin()
  groups[0]?.fail(new Error('a fails'))
  expect(await failing).toEqual(new Error('a fails'))
  expect(await other).toBe('b is written')
  expect(alone).toEqual(['a', 'b'])
})

test('if it is unknown whether a group was committed, all its writers get a CommitUnknown error, and no write is retried', async () => {
  const { alone, groups, write, begin } = createWriters()
  const lost = [write('a', 1), write('b', 2)].map(catchFailure)
  await begin()
  groups[0]?.fail(new CommitUnknown('the result of a commit is not known yet'))
  for (const failure of await Promise.all(lost)) expect(failure).toBeInstanceOf(CommitUnknown)
  expect(alone).toEqual([])
})
