import { expect, test } from 'bun:test'
import { OPEN_REPORTS_MAX } from '../../../server/domain/wall/reports.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { createUsedUpLimits } from '../../support/fakes/limits.ts'
import { parseBlockOrThrow, NOW, createTestPayment } from '../../support/samples.ts'
import { createBodyInit } from '../../support/service/signed.ts'
import { openWall, createPaidInit, type Wall } from '../../support/service/wall.ts'

// Goal: anybody can report an artwork once a day. Only the operator reads the report, and it changes nothing that
// readers see. Method: the whole service with a store in memory.

const readStatusAndJson = async (response: Response) => [response.status, await response.json()]
const sendReport = async (wall: Wall, body: object) => await wall.sendRequest('POST /api/reports', createBodyInit(body))
const RECEIVED = [200, { received: true }]

test('a report is stored under the artwork that contains the reported block, and changes nothing that readers see', async () => {
  const db = await openBlankWall()
  const wall = await openWall({}, db)
  await wall.buyBlock('/blocks/3,4', 1)
  await wall.sendRequest('GET /blocks/4,4', createPaidInit(createTestPayment(1, 2)))
  const readPublicAnswers = async () =>
    await Promise.all(
      ['/api/canvas', '/blocks/4,4', '/api/tail'].map(
        async (path) => await (await wall.sendRequest(`GET ${path}`)).text(),
      ),
    )
  const before = await readPublicAnswers()
  const body = { block: '4,4', reason: 'scam', note: 'The link leads to a copy of a bank’s page.' }
  expect(await readStatusAndJson(await sendReport(wall, body))).toEqual(RECEIVED)
  expect(await readStatusAndJson(await sendReport(wall, { ...body, block: '3,4' }))).toEqual(RECEIVED)
  expect(await readPublicAnswers()).toEqual(before)
  const { note } = body
  // Both reports count as one, because they are by one reporter and about one artwork.
  expect(await db.reports.listOpen()).toEqual([
    { id: 1, at: NOW, work: parseBlockOrThrow('3,4'), block: parseBlockOrThrow('4,4'), reason: 'scam', note },
  ])
})

test.each([
  ['an unknown reason', { block: '3,4', reason: 'ugly' }, 400, 'invalid_body'],
  ['a note that is too long', { block: '3,4', reason: 'other', note: 'x'.repeat(201) }, 400, 'invalid_body'],
  [
    'a note with a terminal escape sequence',
    { block: '3,4', reason: 'other', note: 'a\u001b[2J' },
    400,
    'invalid_body',
  ],
  ['an unknown field', { block: '3,4', reason: 'other', hide: true }, 400, 'invalid_body'],
  ['a block that is not on the wall', { block: '160,0', reason: 'other' }, 400, 'invalid_coordinate'],
  ['a block that nobody owns', { block: '5,6', reason: 'other' }, 404, 'no_owner'],
])('a report with %s is rejected with an error, and nothing is stored', async (_, body, status, error) => {
  const db = await openBlankWall()
  const wall = await openWall({}, db)
  await wall.buyBlock('/blocks/3,4', 1)
  expect(await readStatusAndJson(await sendReport(wall, body))).toEqual([
    status,
    { error, message: expect.any(String) },
  ])
  expect(await db.reports.listOpen()).toEqual([])
})

test('a client that sends too many reports gets an error with the time to wait', async () => {
  const wall = await openWall({ limits: createUsedUpLimits() })
  const refused = await sendReport(wall, { block: '3,4', reason: 'other' })
  expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true])
})

test('while too many reports are open, the response to a new report says that it was not stored', async () => {
  const wall = await openWall({ reports: { fileReport: async () => 'full' } })
  await wall.buyBlock('/blocks/3,4', 1)
  const [status, body] = await readStatusAndJson(await sendReport(wall, { block: '3,4', reason: 'other' }))
  expect([status, body]).toEqual([503, { error: 'server_busy', message: expect.stringContaining('was not stored') }])
  expect(OPEN_REPORTS_MAX).toBeGreaterThan(1000)
})

test('the address of a reporter is stored only as a hash, whose key changes every day', async () => {
  const stored: string[] = []
  const wall = await openWall({
    reports: {
      async fileReport({ reporterFor }, { day, fresh }) {
        expect([day, fresh]).toEqual([
          new Date(NOW).toISOString().slice(0, 10),
          expect.stringMatching(/^[0-9a-f-]{36}$/),
        ])
        stored.push(reporterFor('one'), reporterFor('one'), reporterFor('two'))
        return 'filed'
      },
    },
  })
  await wall.buyBlock('/blocks/3,4', 1)
  await sendReport(wall, { block: '3,4', reason: 'other' })
  expect([stored[0] === stored[1], stored[0] === stored[2]]).toEqual([true, false])
  for (const hash of stored) expect(hash).toMatch(/^[0-9a-f]{32}$/)
})
