import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { STRAY_BY_HAND } from '../../../server/domain/purchase/account.ts'
import { followLog } from '../../../server/instances/follow-log.ts'
import { createAdminCommands } from '../../../server/operate/admin-commands.ts'
import { locateAdminSocket } from '../../../server/operate/admin-socket-path.ts'
import { callAdminSocket, openAdminSocket } from '../../../server/operate/admin-socket.ts'
import { truncateWallet } from '../../../shared/wallet.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { catchFailure, reserveTarget, sellBlock } from '../../support/engine.ts'
import { createFakeChain } from '../../support/fakes/chain.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  toHash,
  NOW,
  createTestPayment,
  createPixels,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

const folder = createScratchFolder()

const failOverview = (): never => {
  throw new Error('no test reads the overview')
}

const nothingLost: AdminParts['restored'] = { listOrphans: () => [], isOlder: () => false }

let walls = 0
async function openWorld({ path = join(folder, `${walls++}.sock`), restored = nothingLost } = {}) {
  const db = await openBlankWall()
  const [chain, clock, logger] = [createFakeChain(), createFakeClock(NOW), createFakeLogger()]
  const seller = { reconcile: async () => true }
  const { view, applyNewEntries } = await followLog(db.log)
  const commands = createAdminCommands({
    ...db,
    chain,
    terms: TERMS,
    clock,
    logger,
    seller,
    applyNewEntries,
    view,
    readOverview: failOverview,
    restored,
  })
  return {
    db,
    applyNewEntries,
    chain,
    logger,
    path,
    commands,
    open: () => openAdminSocket(path, commands, logger),
    call: async (...order: Order) => await callAdminSocket(path, ...order),
  }
}

type AdminParts = Parameters<typeof createAdminCommands>[0]

type Order = Parameters<typeof callAdminSocket> extends [string, ...infer Rest] ? Rest : never

const postCommand = (path: string, command: string, body: string) =>
  fetch(`http://wall/${command}`, { unix: path, method: 'POST', body })

test('a socket that a dead process left behind is replaced', async () => {
  const world = await openWorld()
  const dying = `Bun.serve({ unix: ${JSON.stringify(world.path)}, fetch() {} }); process.kill(process.pid, 'SIGKILL')`
  Bun.spawnSync([process.execPath, '-e', dying])
  const close = world.open()
  expect(await world.call('open', {})).toEqual({ ok: true, lines: [] })
  close()
  expect(await catchFailure(world.call('open', {}))).toMatchObject({ name: 'NoAdminSocket' })
})

test('another program’s file at the path of the socket is kept, and the operator is alerted', async () => {
  const { path, open, logger } = await openWorld()
  writeFileSync(path, 'kept')
  open()()
  expect(logger.alerts).toMatchObject([{ event: 'no-admin-socket' }])
  expect(readFileSync(path, 'utf8')).toBe('kept')
})

test('if the socket cannot be created, the operator gets an alert and the wall keeps running', async () => {
  const { open, logger } = await openWorld({ path: join(folder, 'x'.repeat(150)) })
  open()()
  expect(logger.alerts).toMatchObject([{ event: 'no-admin-socket' }])
})

test('a command that is unknown, or has missing or invalid arguments, is rejected and changes nothing', async () => {
  const world = await openWorld()
  await sellBlock(world.db, '3,4', 1, 1)
  const close = world.open()
  for (const [command, body] of [
    ['sell', '{}'],
    ['constructor', '{}'],
    ['moderate', '{}'],
    ['moderate', '{"act":"hide","target":"3,4","parts":[]}'],
    ['moderate', '{"act":"hide","target":"3,4","parts":["owner"]}'],
    ['moderate', '{"act":"hide","target":"3;4","parts":["link"]}'],
    ['resolve', '{"payer":"0x1","nonce":"0x2"}'],
    ['payout', `{"payer":"${createWalletAddress(1)}","nonce":"${toHash(1)}","reference":""}`],
    ['open', 'not json'],
  ] as const)
    expect([command, body, await (await postCommand(world.path, command, body)).json()]).toMatchObject([
      command,
      body,
      { ok: false },
    ])
  expect(await world.db.log.readAfter(1, 9)).toEqual([])
  close()
})

test('the operator can hide and unhide texts by coordinate, area or wallet, and the moderation trail shows every action', async () => {
  const world = await openWorld()
  await sellBlock(world.db, '3,4', 1, 1)
  await sellBlock(world.db, '4,4', 1, 2)
  await sellBlock(world.db, '9,9', 2, 3)
  const close = world.open()
  const moderate = async (act: 'hide' | 'unhide', target: string) =>
    await world.call('moderate', { act, target, parts: ['message'], who: 'ada', why: 'rude' })
  const listHidden = async (isTrail: boolean) => (await world.call('hidden', { isTrail })).lines
  expect(await listHidden(false)).toEqual([])
  const both = ['blocks 3,4 4,4: hidden: message']
  expect(await moderate('hide', '3,4,2x2')).toEqual({ ok: true, lines: [...both, '2 blocks have no owner'] })
  expect(await moderate('unhide', '4,4')).toEqual({ ok: true, lines: ['block 4,4: everything is shown'] })
  const shown = truncateWallet(createWalletAddress(1))
  const again = ['block 3,4: hidden: message (unchanged)', 'block 4,4: hidden: message']
  expect((await moderate('hide', shown)).lines).toEqual(again)
  expect((await moderate('unhide', shown.replace('…', '...'))).ok).toBe(true)
  expect((await moderate('hide', createWalletAddress(2).toUpperCase().replace('0X', '0x'))).ok).toBe(true)
  const at = new Date(NOW).toISOString()
  expect(await listHidden(false)).toEqual([`${at} block 9,9: hidden: message`])
  expect(await listHidden(true)).toEqual([
    `${at} ada hide area 3,4,2x2 (message): rude`,
    `${at} ada unhide block 4,4 (message): rude`,
    `${at} ada hide wallet ${createWalletAddress(1)} (message): rude`,
    `${at} ada unhide wallet ${createWalletAddress(1)} (message): rude`,
    `${at} ada hide wallet ${createWalletAddress(2)} (message): rude`,
    `${at} left block 3,4: hidden: message`,
    `${at} left block 4,4: hidden: message`,
    `${at} left block 4,4: everything is shown`,
    `${at} left block 4,4: hidden: message`,
    `${at} left block 3,4: everything is shown`,
    `${at} left block 4,4: everything is shown`,
    `${at} left block 9,9: hidden: message`,
  ])
  for (const nothing of ['160,0', '50,50', '50,50,2x2', createWalletAddress(7), '0x1234…abcd', 'somebody'])
    expect(await moderate('hide', nothing)).toMatchObject({ ok: false, lines: [expect.any(String)] })
  close()
})

test('if a whole block is hidden, the response says that the owner’s name is still shown, and how to hide it', async () => {
  const world = await openWorld()
  await sellBlock(world.db, '3,4', 1, 1)
  const close = world.open()
  const order = { target: '3,4', parts: [], who: 'ada', why: null }
  expect((await world.call('moderate', { act: 'hide', ...order })).lines).toEqual([
    'block 3,4: hidden: pixels, message, link',
    `the owner’s name is still shown; to hide it: pixel-wall hide ${createWalletAddress(1)} --name --framework`,
  ])
  close()
})

test('the operator can hide the name of a wallet and ban the wallet, and both actions are in the list of hidden content and the trail', async () => {
  const world = await openWorld()
  await sellBlock(world.db, '3,4', 1, 1)
  const close = world.open()
  const by = { who: 'ada', why: null }
  const target = truncateWallet(createWalletAddress(1))
  const [name, at] = [`wallet ${createWalletAddress(1)}`, new Date(NOW).toISOString()]
  expect(await world.call('moderate', { act: 'hide', target, parts: ['name'], ...by })).toEqual({
    ok: true,
    lines: [`${name}: hidden: name`],
  })
  expect(await world.call('ban', { act: 'ban', target, ...by })).toEqual({
    ok: true,
    lines: [`${name}: hidden: name; banned`],
  })
  expect((await world.call('hidden', { isTrail: false })).lines).toEqual([`${name}: hidden: name; banned`])
  expect((await world.call('hidden', { isTrail: true })).lines).toEqual([
    `${at} ada hide ${name} (name)`,
    `${at} ada ban ${name}`,
  ])
  expect((await world.call('moderate', { act: 'hide', target: '3,4', parts: ['name'], ...by })).ok).toBe(false)
  expect((await world.call('ban', { act: 'ban', target: '3,4', ...by })).ok).toBe(false)
  expect((await world.call('moderate', { act: 'unhide', target, parts: [], ...by })).lines).toEqual([
    `${name}: its names are shown; banned`,
    'block 3,4: everything is shown (unchanged)',
  ])
  close()
})

test('a payout can be recorded once for money without a purchase, but not for a sale or an unpaid payment', async () => {
  const world = await openWorld()
  const close = world.open()
  await sellBlock(world.db, '3,4', 1, 1)
  const recordPayout = async (payer: number, nonce: number) =>
    (await world.call('payout', { payer: createWalletAddress(payer), nonce: toHash(nonce), reference: 'refund' })).lines
  expect(await recordPayout(1, 1)).toEqual([
    'this payment bought a block or an area, or may still buy one: nothing is owed for it',
  ])
  expect(await recordPayout(2, 2)).toEqual(['the chain shows no such payment'])
  world.chain.transferPayment(createTestPayment(2, 2))
  world.chain.silent = true
  expect(await recordPayout(2, 2)).toEqual(['the chain does not respond; try again'])
  world.chain.silent = false
  expect(await recordPayout(2, 2)).toEqual(['noted as paid out'])
  expect(await recordPayout(2, 2)).toEqual(['a reference was already recorded, and was kept'])
  close()
})

test('an authorization that paid an address other than a payee of the wall cannot be recorded as paid out or as stray', async () => {
  const { chain, commands, db } = await openWorld()
  const key = { payer: createWalletAddress(3), nonce: toHash(3) }
  chain.transferPayment(createTestPayment(3, 3, { to: createWalletAddress(9) }))
  const unpaid = { ok: false, lines: ['the chain shows no such payment'] }
  expect(await commands('payout', { ...key, reference: 'refund' })).toEqual(unpaid)
  expect(await commands('stray', key)).toEqual(unpaid)
  await db.checkpoint.addPayees([createWalletAddress(9)])
  expect(await commands('stray', key)).toMatchObject({ ok: true })
})

test('open purchases are listed, and resolving one shows its state and the evidence on the chain', async () => {
  const world = await openWorld()
  const close = world.open()
  await world.db.ledger.markUncertain(await reserveTarget(world.db, parseBlockOrThrow('3,4'), createTestPayment(1, 1)))
  const key = { payer: createWalletAddress(1), nonce: toHash(1) }
  expect(await world.call('open', {})).toEqual({ ok: true, lines: [`${key.payer} ${key.nonce}`] })
  expect((await world.call('resolve', key)).lines).toEqual([
    `${key.payer} ${key.nonce} block 3,4: held, in doubt; the chain: unspent; it can be paid until 2027-01-15T08:05:00.000Z`,
  ])
  expect(await world.call('resolve', { ...key, payer: createWalletAddress(2) })).toMatchObject({ ok: false })
  close()
})

test('the path of the socket is relative or absolute, whichever is shorter', () => {
  const locateSocket = (path: string, adminSocketPath?: string) =>
    locateAdminSocket({ database: { kind: 'sqlite', path }, port: 8402, adminSocketPath, isWitnessApart: false })
  expect(locateSocket('./wall.sqlite')).toBe('wall.sqlite.sock')
  expect(locateSocket('/w.sqlite')).toBe('/w.sqlite.sock')
  const url = 'postgres://db.example/wall'
  const onServer = { database: { kind: 'postgres', url }, adminSocketPath: undefined, isWitnessApart: false } as const
  expect(locateAdminSocket({ ...onServer, port: 8402 })).toBe('wall-8402.sock')
  expect(locateSocket('./wall.sqlite', '/run/wall.sock')).toBe('/run/wall.sock')
})

test('a credit can be recorded as paid out only if the chain shows its payment', async () => {
  const { db, chain, call, open } = await openWorld()
  const close = open()
  const payment = createTestPayment(1, 1)
  const lost = { payment, target: 'next', listing: SILENT, head: 0n } as const
  const key = { payer: createWalletAddress(1), nonce: toHash(1), reference: 'refund 1' }
  await db.payouts.recordCredit(lost, toHash(9), NOW)
  expect(await call('payout', key)).toEqual({
    ok: false,
    lines: ['the chain shows no such payment'],
  })
  chain.transferPayment(payment)
  expect(await call('payout', key)).toEqual({ ok: true, lines: ['noted as paid out'] })
  close()
})

test('one command books all money without a known purchase as stray, unless the database is an older copy', async () => {
  const payments = [createTestPayment(1, 1), createTestPayment(2, 2)]
  const copy = { orphans: [] as Orphans, isOlder: true }
  const restored = { listOrphans: () => copy.orphans, isOlder: () => copy.isOlder }
  const { db, chain, commands } = await openWorld({ restored })
  copy.orphans = payments.map((payment) => ({
    ...payment,
    payTo: payment.to,
    tx: chain.transferPayment(payment),
    height: 1n,
  }))
  expect(await commands('strays', {})).toMatchObject({ ok: false, lines: [expect.stringContaining('an older copy')] })
  expect(await db.payouts.findReference(createTestPayment(1, 1))).toBeUndefined()
  copy.isOlder = false
  const lines = copy.orphans.map(({ payer, nonce, tx }) => `${payer} ${nonce} in ${tx}: booked as stray`)
  expect(await commands('strays', {})).toEqual({ ok: true, lines })
  for (const payment of payments) expect(await db.payouts.findReference(payment)).toBe(STRAY_BY_HAND)
})

type Orphans = ReturnType<AdminParts['restored']['listOrphans']>

test('a backup that another tool made is recorded with the time of the command', async () => {
  const { db, call, open } = await openWorld()
  const close = open()
  expect(await call('backed-up', {})).toMatchObject({ ok: true })
  expect(await db.backups.readLastTime()).toBe(NOW)
  close()
})

test('reports are listed with the content of the reported artwork, and are closed if the operator hides the artwork or dismisses the reports', async () => {
  const { db, call, open, applyNewEntries } = await openWorld()
  const close = open()
  await sellBlock(db, '3,4', 1, 1)
  await sellBlock(db, '4,4', 1, 2)
  await sellBlock(db, '9,9', 2, 3)
  const pixels = createPixels(7)
  await db.blocks.edit(parseBlockOrThrow('9,9'), createTestEdit(1, { pixels }), NOW)
  await applyNewEntries()
  const createReport = (reporter: string) => ({
    reporterFor: () => reporter.repeat(32),
    note: 'look',
    reason: 'scam' as const,
  })
  const key = { day: '2027-01-15', fresh: 'one' }
  const [block, other] = [parseBlockOrThrow('4,4'), parseBlockOrThrow('9,9')]
  for (const reporter of ['a', 'b'])
    await db.reports.fileReport({ ...createReport(reporter), work: parseBlockOrThrow('3,4'), block }, key, NOW)
  await db.reports.fileReport({ ...createReport('a'), work: other, block: other }, key, NOW)
  const { ok, lines } = await call('reports', {})
  expect([ok, lines[0]]).toEqual([true, '2'])
  expect(lines.slice(1).map((line) => JSON.parse(line))).toMatchObject([
    { place: '4,4', owner: createWalletAddress(1), blocks: 2, reports: [{ reason: 'scam', note: 'look' }, {}] },
    {
      place: '9,9',
      owner: createWalletAddress(2),
      blocks: 1,
      around: [[parseBlockOrThrow('9,9'), new Uint8Array(pixels).toBase64()]],
    },
  ])
  const why = { who: 'ada', why: 'a copied page' }
  expect(await call('close-reports', { outcome: 'hidden', target: '3,4', ...why })).toEqual({
    ok: true,
    lines: ['the work at 3,4 (blocks: 2): everything on it is hidden; reports closed: 2'],
  })
  expect((await db.blocks.findOwned(block))?.content).toEqual({ pixels: null, message: null, link: null })
  expect(await db.moderation.listRecords()).toMatchObject([{ act: 'hide', what: 'work at 3,4', ...why }])
  expect((await call('close-reports', { outcome: 'dismissed', target: '9,9', ...why })).lines).toEqual([
    'the work at 9,9 (blocks: 1): it is left as it is; reports closed: 1',
  ])
  expect(await call('reports', {})).toEqual({ ok: true, lines: ['0'] })
  for (const target of ['x', '50,50'])
    expect((await call('close-reports', { outcome: 'hidden', target, ...why })).ok).toBe(false)
  close()
})

test('the response to hiding an area is one line with its first twelve blocks and the number of further blocks', async () => {
  const { db, call, open } = await openWorld()
  const close = open()
  for (let col = 0; col < 14; col++) await sellBlock(db, `${col},4`, 1, col + 1)
  const body = { act: 'hide', target: '0,4,14x1', parts: ['link'], who: 'ada', why: null } as const
  const coords = Array.from({ length: 12 }, (_, col) => `${col},4`).join(' ')
  expect((await call('moderate', { ...body, parts: [...body.parts] })).lines).toEqual([
    `blocks ${coords} and 2 more: hidden: link`,
  ])
  close()
})
