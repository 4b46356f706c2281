import { expect, test } from 'bun:test'
import { getAddress } from 'viem/utils'
import { isFailure } from '../../../../server/domain/failure.ts'
import { createEmptyView } from '../../../../server/domain/wall/wall-view.ts'
import { createAreaRepaint, createBlockRepaint } from '../../../../server/wall/signed-changes.ts'
import { truncateWallet } from '../../../../shared/wallet.ts'
import { toHash, NOW, createWalletAddress } from '../../../support/samples.ts'
import { signEdit, signPainterChoice, createBodyInit } from '../../../support/service/signed.ts'
import { readErrorCode, HOST, readJson, openWall } from '../../../support/service/wall.ts'

const PAINTER = createWalletAddress(9)

async function openPaintedWall(query = `painter=${PAINTER}`) {
  const wall = await openWall()
  const bought = await wall.buyBlock(`/blocks/3,4?${query}`, 1)
  const paintBlock = (payer: number, message: string, coord = '3,4', ts = NOW) =>
    wall.sendRequest(`PUT /blocks/${coord}`, createBodyInit(signEdit(payer, coord, { message }, { ts })))
  const changePainter = (body: unknown) => wall.sendRequest('PUT /api/agents/me/painter', createBodyInit(body))
  const readStanding = async (payer = 1) =>
    await readJson(await wall.sendRequest(`GET /api/agents/${createWalletAddress(payer)}`))
  return { ...wall, bought, paintBlock, name: changePainter, standing: readStanding }
}

test('only the owner of a block, and the painter that its purchase named, can repaint the block', async () => {
  const { paintBlock, sendRequest: ask } = await openPaintedWall()
  expect((await paintBlock(9, 'by the painter')).status).toBe(200)
  expect(await readJson(await ask('GET /blocks/3,4'))).toHaveProperty('message', 'by the painter')
  expect((await paintBlock(1, 'by the owner')).status).toBe(200)
  expect((await paintBlock(2, 'by another wallet')).status).toBe(401)
})

test('the receipt shows the painter’s full address each time it is requested', async () => {
  const { bought, buyBlock } = await openPaintedWall()
  const shown = getAddress(PAINTER)
  expect(await readJson(bought)).toMatchObject({
    deed: { painter: shown, paint: expect.stringContaining('this wallet or its painter') },
  })
  expect(await readJson(await buyBlock('/blocks/3,4', 1))).toMatchObject({ deed: { painter: shown } })
})

test('a receipt without a painter does not mention one', async () => {
  const { bought } = await openPaintedWall('name=Ada')
  const { deed } = (await readJson(bought)) as { deed: object }
  expect(deed).not.toHaveProperty('painter')
  expect(JSON.stringify(deed)).not.toContain('painter')
})

test('only a receipt shows the full address of a painter, and every public read shortens it', async () => {
  const { sendRequest: ask, paintBlock, name, standing } = await openPaintedWall()
  expect(await name(signPainterChoice(1, PAINTER)).then(readJson)).toEqual({ updated: true })
  await paintBlock(9, 'hello')
  for (const path of [
    '/blocks/3,4',
    '/api/canvas',
    '/api/feed',
    '/api/history',
    '/api/agents',
    `/api/agents/${createWalletAddress(1)}`,
    '/api/space?w=1&h=1',
  ])
    expect((await (await ask(`GET ${path}`)).text()).toLowerCase(), path).not.toContain(PAINTER)
  expect(await standing()).toMatchObject({
    painter: truncateWallet(PAINTER),
    blocks: [{ block: { coord: '3,4' }, painter: truncateWallet(PAINTER) }],
  })
})

test('a purchase with a painter that is not an address is rejected, and nothing is charged', async () => {
  const { sendRequest: ask, buyBlock } = await openWall()
  for (const painter of ['', 'me', '0x12', `${PAINTER}0`, PAINTER.slice(2), `0X${PAINTER.slice(2)}`, 'ada.eth']) {
    expect(await readErrorCode(await ask(`GET /blocks/3,4?painter=${painter}`)), painter).toBe('invalid_painter')
    expect(await readErrorCode(await buyBlock(`/blocks/3,4?painter=${painter}`, 1)), painter).toBe('invalid_painter')
  }
  expect((await ask('GET /blocks/3,4')).status).toBe(402)
})

test('the address of a painter may be written in any letter case', async () => {
  const { paintBlock } = await openPaintedWall(`painter=0x${'0'.repeat(39)}9`)
  expect((await paintBlock(9, 'hello')).status).toBe(200)
  const upper = await openPaintedWall(`painter=0x${createWalletAddress(0xabc).slice(2).toUpperCase()}`)
  expect((await upper.paintBlock(0xabc, 'hello')).status).toBe(200)
})

test('a repaint that a painter signed is rejected once that painter is removed', async () => {
  const { name, sendRequest: ask } = await openPaintedWall()
  const edit = signEdit(9, '3,4', { message: 'once' })
  expect((await ask('PUT /blocks/3,4', createBodyInit(edit))).status).toBe(200)
  expect((await ask('PUT /blocks/3,4', createBodyInit(edit))).status).toBe(200)
  await name(signPainterChoice(1, null))
  expect((await ask('PUT /blocks/3,4', createBodyInit(edit))).status).toBe(401)
})

test('a painter cannot set the name of the owner’s wallet or appoint another painter', async () => {
  const { name, sendRequest: ask } = await openPaintedWall()
  const forged = { ...signPainterChoice(9, createWalletAddress(8)), wallet: createWalletAddress(1) }
  const refused = await name(forged)
  expect(refused.status).toBe(401)
  expect(await readJson(refused)).toMatchObject({
    error: 'unauthorized',
    expected: `${HOST}\nset_painter v1\nwallet=${createWalletAddress(1)}\nts=${NOW}\npainter=${createWalletAddress(8)}`,
  })
  const own = { ...signPainterChoice(9, createWalletAddress(8)) }
  expect(await readErrorCode(await name(own))).toBe('no_purchases')
  const registration = { wallet: createWalletAddress(1), ts: NOW, signature: own['signature'], name: 'Eve' }
  expect((await ask('PUT /api/agents/me', createBodyInit(registration))).status).toBe(401)
})

test.each(['block', 'area'] as const)(
  'if a painter is removed after the server has read a repaint of one %s by that painter, the repaint is rejected',
  async (kind) => {
    const { db } = await openPaintedWall()
    const sources = { ...db, view: createEmptyView() }
    const change = await (kind === 'block'
      ? createBlockRepaint(sources, '3,4', { message: 'late' })
      : createAreaRepaint(sources, '3,4,1x1', { message: 'late' }))
    if (isFailure(change)) return expect.unreachable()
    expect(change.signers).toEqual([createWalletAddress(1), PAINTER])
    await db.agents.namePainter(createWalletAddress(1), { painter: null, ts: NOW })
    expect(await change.apply({ by: PAINTER, digest: toHash(1), ts: NOW }, NOW)).toBe('not-painter')
    expect(await change.apply({ by: createWalletAddress(1), digest: toHash(2), ts: NOW }, NOW)).toBe('applied')
  },
)
