import { describe, expect, test } from 'bun:test'
import { parseProposal } from '../../../viewer/chat/proposal.ts'
import { createOffer, type Shown } from '../../../viewer/chat/words.ts'
import { createSketch } from '../../../viewer/studio/sketch.ts'

const createBlock = (coord: string, index: number) => ({ block: { coord, index } })
const pixels = new Uint8Array(600).fill(7)

describe('the view of a call', () => {
  test.each([
    [
      'for a preview of an area, the view shows its position and the sent picture',
      {
        given: { pixels: pixels.toBase64() },
        answered: { acceptable: true, area: '80,45,3x2', ...createBlock('80,45', 7280) },
      },
      { size: { w: 3, h: 2 }, at: { col: 80, row: 45 }, indices: pixels },
    ],
    [
      'for a preview of a block, the view shows its position and the sent px',
      { given: { px: '0a'.repeat(100) }, answered: { acceptable: true, area: null, ...createBlock('3,4', 643) } },
      { size: { w: 1, h: 1 }, at: { col: 3, row: 4 }, indices: new Uint8Array(100).fill(10) },
    ],
    [
      'for a preview that finds no space, the view shows no position',
      { given: { w: 3, h: 2 }, answered: { acceptable: false, area: null, block: null } },
      { size: { w: 3, h: 2 }, at: undefined },
    ],
    [
      'for a preview whose picture has the wrong size, the view shows no picture',
      { given: { pixels: 'AAEC' }, answered: { acceptable: false, area: '80,45,3x2', ...createBlock('80,45', 7280) } },
      { size: { w: 3, h: 2 }, indices: undefined },
    ],
    [
      'for a search for space, the view shows the nearest result',
      { given: {}, answered: { w: 4, h: 3, spaces: [{ coord: '78,43' }, { coord: '1,1' }] } },
      { size: { w: 4, h: 3 }, at: { col: 78, row: 43 } },
    ],
    [
      'for a wallet, the view shows its first area, and all blocks that it owns',
      {
        given: {},
        answered: {
          wallet: '0x',
          blocks: [createBlock('1,0', 1), createBlock('2,0', 2)],
          areas: [{ area: '1,0,2x1' }],
        },
      },
      { size: { w: 2, h: 1 }, at: { col: 1, row: 0 }, mine: new Set([1, 2]) },
    ],
    [
      'for any other call, the view shows the whole wall',
      { given: {}, answered: { stats: {} } },
      { size: undefined, at: undefined },
    ],
  ])('%s', (_, call, proposal) => {
    expect(parseProposal(call)).toMatchObject(proposal)
  })

  test('a picture that a call returned block by block is assembled row by row', () => {
    const createPx = (index: number) => index.toString(16).padStart(2, '0').repeat(100)
    const blocks = [0, 1].map((dx) => ({ dx, dy: 0, px: createPx(dx + 1) }))
    const { indices } = parseProposal({ given: {}, answered: { w: 2, h: 1, blocks } })
    const row = [...Array.from({ length: 10 }, () => 1), ...Array.from({ length: 10 }, () => 2)]
    expect(indices).toEqual(Uint8Array.from(Array.from({ length: 10 }, () => row).flat()))
  })
})

test('the message of the chat button contains the known position and price, and never the bytes of the picture', () => {
  const size = { w: 3, h: 2 }
  const sketch = { ...createSketch({ col: 80, row: 45 }), size }
  const shown: Shown = { sketch, hasSize: true, hasPlace: true, perBlock: '1.00', host: 'wall.test' }
  const painted = { ...shown, sketch: { ...sketch, painted: { size, style: sketch.style, indices: pixels } } }
  expect(
    [shown, painted, { ...shown, hasPlace: false }, { ...shown, hasSize: false }].map(
      (one) => createOffer(one).message,
    ),
  ).toEqual([
    'Show me my picture at area 80,45,3x2 on the pixel wall at wall.test with preview_block, before you buy anything. Use the picture from this chat, or ask me for one.',
    'Buy area 80,45,3x2 on the pixel wall at wall.test for 6.00 USDC. Use the picture from your last call.',
    'Find available space for 3x2 blocks on the pixel wall at wall.test.',
    'I want to put a picture on the pixel wall at wall.test. Ask me for the picture and its size, then find available space for it.',
  ])
})

test('a position without a picture is not offered for sale, and the view says so if the chat blocks its requests', () => {
  const sketch = { ...createSketch({ col: 80, row: 45 }), size: { w: 3, h: 2 } }
  const shown: Shown = { sketch, hasSize: true, hasPlace: true, perBlock: '1.00', host: 'wall.test' }
  expect(createOffer(shown)).toMatchObject({
    says: 'area 80,45,3x2, 6 blocks, 6.00 USDC. No picture yet.',
    label: 'Show my picture here',
  })
  expect(createOffer({ ...shown, isCutOff: true }).says).toEndWith(
    'This view could not read the wall, perhaps because this chat does not allow it, so no artworks are shown.',
  )
})
