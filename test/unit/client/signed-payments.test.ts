import { expect, test } from 'bun:test'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { NotSavedError, openSignedPayments } from '../../../server/client/signed-payments.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

const REQUEST = { url: 'https://wall.test/blocks/next', payment: 'e30=', salt: `0x${'12'.repeat(32)}` }

const resolveFolder = (name: string) => join(scratch, name)
const scratch = createScratchFolder()

const failToSync = () => Promise.reject(Object.assign(new Error('the disk is broken'), { code: 'EIO' }))

test('a saved payment is listed in full, with the salt of its binding', async () => {
  const folder = resolveFolder('whole')
  await openSignedPayments(folder).save({ ...REQUEST, body: '{}' })
  expect(await openSignedPayments(folder).list()).toMatchObject([{ ...REQUEST, body: '{}' }])
})

test('if the folder of a payment cannot be flushed, the payment is deleted, and the next process does not list it', async () => {
  const folder = resolveFolder('unflushed')
  const saving = openSignedPayments(folder, failToSync).save(REQUEST)
  expect(await saving.catch((error: unknown) => error)).toMatchObject({ message: 'EIO', leftAt: undefined })
  expect(await readdir(folder)).toEqual([])
  expect(await openSignedPayments(folder).list()).toEqual([])
})

test('a payment that can be neither flushed nor emptied is reported with its path', async () => {
  const folder = resolveFolder('stuck')
  // Replaces the file with a folder before the flush fails, because a folder cannot be emptied like a file.
  const replaceWithFolder = async () => {
    const [name = ''] = await readdir(folder)
    await Bun.file(join(folder, name)).delete()
    await mkdir(join(folder, name))
    await failToSync()
  }
  const error: unknown = await openSignedPayments(folder, replaceWithFolder)
    .save(REQUEST)
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(NotSavedError)
  expect(error).toMatchObject({ leftAt: expect.stringMatching(/stuck\/[0-9a-f]{32}\.json$/) })
})

test('a file that is not a payment is ignored', async () => {
  const folder = resolveFolder('odd')
  await mkdir(folder)
  for (const [name, text] of [
    ['a.json', ''],
    ['b.json', '{'],
    ['c.json', '{"url":1}'],
  ] as const)
    await Bun.write(join(folder, name), text)
  expect(await openSignedPayments(folder).list()).toEqual([])
  expect(await readFile(join(folder, 'b.json'), 'utf8')).toBe('{')
})
