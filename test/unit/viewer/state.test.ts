import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findSoldArea } from '../../../server/domain/wall/sold-area.ts'
import { ALL_BLOCKS } from '../../../shared/wall.ts'
import { computeBlockBox, clampCamera, fitWall, toRect } from '../../../viewer/camera/camera.ts'
import { fitsBesideDetails } from '../../../viewer/camera/label-layout.ts'
import {
  type State,
  createState,
  isSameCamera,
  countLayers,
  findPointedBlock,
  resizeStage,
  findShownBlock,
  isLabelShown,
  reduceState,
  measureWork,
} from '../../../viewer/state.ts'
import { goToPlace } from '../../../viewer/url-state.ts'
import type { Wall } from '../../../viewer/wall/wall-model.ts'
import {
  requireBlockAt,
  blockWithoutPicture,
  canvas,
  nastyBlock,
  openBlock,
  rainbowBlock,
  buildSampleWall,
} from '../../support/page/sample-wall.ts'

const view = { width: 1280, height: 755 }
/** The state of the page once its wall has arrived. */
const createArrivedState = (stage: typeof view, wall: Wall, reducedMotion = false): State => {
  const area = findSoldArea(wall.claims.keys())
  return { ...createState(stage, area && toRect(area), reducedMotion), wall }
}

const opened: State = { ...createState(view), wall: buildSampleWall(canvas) }
// The state for a visitor who prefers reduced motion.
const home = createArrivedState(view, buildSampleWall(canvas), true)

const locateBlock = (state: State, block: typeof openBlock) => {
  const box = computeBlockBox(state.camera, state.view, block)
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 }
}

test('before the wall has loaded, no block is shown', () => {
  const state = reduceState(createState(view), { do: 'point', at: { x: 640, y: 380 } })
  expect(findShownBlock(state)).toBeUndefined()
})

test('the first block of the wall is shown when it is pointed at', () => {
  expect(findShownBlock(reduceState(opened, { do: 'point', at: locateBlock(opened, requireBlockAt(0, 0)) }))).toBe(
    requireBlockAt(0, 0),
  )
})

test('the shown block is the one under the pointer, even after the wall has moved', () => {
  const near = reduceState(reduceState(opened, { do: 'point', at: locateBlock(opened, rainbowBlock) }), {
    do: 'zoom',
    factor: 10,
  })
  const blockPx = 10 * near.camera.zoom
  const left = reduceState(near, { do: 'pan', dx: blockPx, dy: 0 })
  expect(findShownBlock(left)).toBe(requireBlockAt(79, 45))
})

test('a tapped block keeps its details open, even while another block is pointed at, until its artwork is tapped or a tap hits no block', () => {
  const pinned = reduceState(opened, { do: 'tap', at: locateBlock(opened, rainbowBlock) })
  const elsewhere = reduceState(pinned, { do: 'point', at: locateBlock(opened, openBlock) })
  expect([elsewhere.pinned, findPointedBlock(elsewhere)]).toEqual([rainbowBlock, openBlock])
  expect(reduceState(elsewhere, { do: 'tap', at: locateBlock(opened, rainbowBlock) }).pinned).toBeUndefined()
  expect(reduceState(elsewhere, { do: 'tap', at: locateBlock(opened, blockWithoutPicture) }).pinned).toBeUndefined()
  expect(reduceState(elsewhere, { do: 'tap', at: { x: 1, y: 1 } }).pinned).toBeUndefined()
  expect(findShownBlock(reduceState(elsewhere, { do: 'dismiss' }))).toBeUndefined()
})

/** The state after all motion has come to rest. */
function moveToRest(state: State): State {
  let now = state
  for (let frame = 0; now.motion !== undefined && frame < 1000; frame++) now = reduceState(now, { do: 'tick', ms: 16 })
  return now
}

const STAGES = [
  ['a desktop', { width: 1440, height: 790 }],
  ['a small laptop', { width: 1024, height: 620 }],
  ['a tablet held upright', { width: 768, height: 900 }],
  ['a phone', { width: 390, height: 590 }],
  ['a phone on its side', { width: 844, height: 294 }],
] as const

// Artworks of one block each, alone or next to other agents' blocks, all over the wall, up to its last corner.
const scattered = ALL_BLOCKS.filter((i) => (i % 160) % 4 === 0 && Math.floor(i / 160) % 3 === 0)
const wide = scattered.flatMap((i) => (i % 16 === 0 ? [i, i + 1, i + 2] : [i]))
const crowded = buildSampleWall({ ...canvas, blocks: [...wide, 14_399, 14_398].map((i) => ({ i, a: i % 2, t: 0 })) })

describe.each(STAGES)('on %s', (...[, stage]) => {
  const start = createArrivedState(stage, crowded)
  const shares = fc.double({ min: 0, max: 0.999, noNaN: true })
  const ways = fc.constantFrom('tap', 'touch', 'list or news', 'link')

  const openRandomArtwork = (way: string, from: State, chance: number): State => {
    const block = [...crowded.claims.keys()][Math.floor(chance * crowded.claims.size)] ?? rainbowBlock
    const seen = [...crowded.claims.keys()].filter((i) => {
      const { x, y } = locateBlock(from, i)
      return x > 0 && y > 0 && x < stage.width && y < stage.height
    })
    const touched = locateBlock(from, seen[Math.floor(chance * seen.length)] ?? block)
    if (way === 'list or news') return reduceState(from, { do: 'open-work', block })
    if (way === 'link') return goToPlace(start, { camera: undefined, block, agent: undefined, at: undefined })
    return seen.length === 0 ? from : reduceState(from, { do: 'tap', at: touched, byFinger: way === 'touch' })
  }

  test('an artwork ends up in full view next to its details, whatever the view and the way in which it is opened', () => {
    fc.assert(
      fc.property(
        ways,
        shares,
        shares,
        shares,
        fc.double({ min: 0.5, max: 40, noNaN: true }),
        (way, chance, x, y, z) => {
          const at = { x: x * stage.width, y: y * stage.height }
          const from = reduceState(reduceState(start, { do: 'fit' }), { do: 'zoom', factor: z, at })
          const { pinned, ...there } = moveToRest(openRandomArtwork(way, from, chance))
          if (pinned === undefined) return
          expect(fitsBesideDetails(there.camera, stage, measureWork({ ...there, pinned }, pinned))).toBe(true)
        },
      ),
    )
  })

  test('if the window is resized while the wall moves or rests, an opened artwork ends up in full view next to its details', () => {
    fc.assert(
      fc.property(shares, fc.boolean(), (chance, rests) => {
        const flying = openRandomArtwork('list or news', start, chance)
        const other = { width: stage.height, height: stage.width }
        const { pinned, ...there } = moveToRest(resizeStage(rests ? moveToRest(flying) : flying, other))
        expect(
          pinned !== undefined && fitsBesideDetails(there.camera, other, measureWork({ ...there, pinned }, pinned)),
        ).toBe(true)
      }),
    )
  })
})

test('closing a sheet moves the wall back into its bounds', () => {
  const phone = createArrivedState({ width: 390, height: 590 }, crowded)
  const open = moveToRest(reduceState(phone, { do: 'open-work', block: requireBlockAt(159, 89) }))
  const closed = moveToRest(reduceState(open, { do: 'unpin' }))
  expect(closed.camera).toEqual(clampCamera(open.camera, phone.view))
  expect(closed.camera).not.toEqual(open.camera)
})

test('on a phone, the search panel hides the details, the time panel does not, and selecting an artwork closes the search panel', () => {
  const phone = createArrivedState({ width: 390, height: 590 }, crowded, true)
  const open = reduceState(phone, { do: 'open-work', block: requireBlockAt(80, 45) })
  const covered = reduceState(open, { do: 'open', panel: 'find' })
  expect([isLabelShown(open), isLabelShown(covered), isLabelShown(reduceState(covered, { do: 'dismiss' }))]).toEqual([
    true,
    false,
    true,
  ])
  expect(reduceState(covered, { do: 'open-work', block: requireBlockAt(84, 45) }).panel).toBeUndefined()
  expect(isLabelShown(reduceState(open, { do: 'open', panel: 'time' }))).toBe(true)
})

test('opening an artwork of another agent deselects the selected agent, and opening one of the same agent does not', () => {
  const ada = reduceState(home, { do: 'select-agent', agent: 0 })
  const own = reduceState(ada, { do: 'open-work', block: rainbowBlock })
  const other = reduceState(ada, { do: 'open-work', block: nastyBlock })
  expect([own.agent, own.panel, other.agent, other.panel]).toEqual([0, 'profile', undefined, undefined])
})

test('opening an artwork that was sold after the shown moment returns to the present', () => {
  const past = reduceState(home, { do: 'seek', at: 1_760_000_000_000 })
  expect(reduceState(past, { do: 'open-work', block: nastyBlock }).at).toBeUndefined()
  expect(reduceState(past, { do: 'open-work', block: rainbowBlock }).at).toBe(1_760_000_000_000)
})

test('if blocks are too small for a finger, a touch selects the nearest artwork and zooms in', () => {
  const phone = createArrivedState({ width: 390, height: 600 }, buildSampleWall(canvas), true)
  const far = reduceState(phone, { do: 'fit' })
  const { x, y } = locateBlock(far, nastyBlock)
  const there = reduceState(far, { do: 'tap', at: { x: x - 3, y: y - 3 }, byFinger: true })
  expect(there.pinned).toBe(nastyBlock)
  expect(there.camera.zoom).toBe(16)
  const nothing = reduceState(far, { do: 'tap', at: locateBlock(far, openBlock), byFinger: true })
  expect(nothing.pinned).toBeUndefined()
  expect(nothing.camera.zoom).toBeGreaterThan(far.camera.zoom)
})

test('the page opens on the sold blocks, and shows them again when the window is resized, until the visitor moves the wall', () => {
  const opening = createArrivedState(view, buildSampleWall(canvas))
  expect(opening.camera).toMatchObject({ x: 800, y: 450, zoom: 6 })
  expect(
    isSameCamera(
      resizeStage(opening, { width: 400, height: 700 }).camera,
      resizeStage(opening, { width: 400, height: 700 }).initialCamera,
    ),
  ).toBe(true)
  const moved = reduceState(opening, { do: 'pan', dx: 10, dy: 0 })
  expect(resizeStage(moved, { width: 1000, height: 700 }).camera).toEqual(moved.camera)
})

test('a full wall fills the height of an upright stage, and fits entirely on a wide stage', () => {
  const upright = { width: 390, height: 600 }
  const full = { ...canvas, blocks: ALL_BLOCKS.map((i) => ({ i, a: 0, t: 0 })) }
  expect(createArrivedState(upright, buildSampleWall(full)).camera.zoom).toBeCloseTo(0.64)
  expect(createArrivedState(view, buildSampleWall(full)).camera).toEqual(fitWall(view))
})

describe('a tour', () => {
  const still: State = { ...opened, reducedMotion: true }
  const touring = reduceState(still, { do: 'tour', stops: [nastyBlock, rainbowBlock, openBlock] })
  const turnTo = (state: State, ...by: readonly (1 | -1)[]) =>
    by.reduce((now, one) => reduceState(now, { do: 'turn', by: one }), state)

  test('the tour goes forward and back between its stops, but not beyond the first and the last one', () => {
    expect([touring.panel, touring.pinned]).toEqual(['tour', nastyBlock])
    expect(turnTo(touring, 1).pinned).toBe(rainbowBlock)
    expect(turnTo(touring, 1, 1, 1).pinned).toBe(openBlock)
    expect(turnTo(touring, 1, -1, -1).pinned).toBe(nastyBlock)
  })

  test('the tour shows each artwork in the middle of the stage without its card, even after the window is resized', () => {
    const shown = [turnTo(touring, 1), resizeStage(turnTo(touring, 1), { width: 390, height: 500 })]
    for (const { camera, ...state } of shown) {
      expect(camera).toMatchObject({ x: 810, y: 455 })
      expect(isLabelShown({ ...state, camera })).toBe(false)
    }
  })

  test('a tour starts in the present, and ends if the visitor dismisses it or opens a panel', () => {
    expect(
      reduceState(reduceState(still, { do: 'seek', at: 1 }), { do: 'tour', stops: [nastyBlock] }).at,
    ).toBeUndefined()
    expect(countLayers(touring)).toBe(1)
    for (const end of [{ do: 'dismiss' }, { do: 'open', panel: 'tour' }, { do: 'open', panel: 'find' }] as const)
      expect(reduceState(touring, end).pinned).toBeUndefined()
  })

  test('if the visitor opens an artwork, the tour ends and the card of the artwork is shown', () => {
    const opening = reduceState(touring, { do: 'open-work', block: rainbowBlock })
    expect([opening.panel, isLabelShown(opening)]).toEqual([undefined, true])
    expect(reduceState(opening, { do: 'turn', by: 1 })).toBe(opening)
  })

  test('the tour ends if the visitor deselects the artwork of the current stop', () => {
    expect(reduceState(touring, { do: 'unpin' }).panel).toBeUndefined()
    expect(reduceState(touring, { do: 'tap', at: locateBlock(touring, nastyBlock) }).panel).toBeUndefined()
  })

  test('a tour without stops does not begin', () => {
    expect(reduceState(still, { do: 'tour', stops: [] }).panel).toBeUndefined()
  })
})

test('when the window is resized, a wall that is shown whole stays whole, and a zoomed view does not move', () => {
  const small = { width: 360, height: 690 }
  const whole = reduceState(home, { do: 'fit' })
  expect(resizeStage(whole, small).camera).toEqual(fitWall(small))
  const near = reduceState(opened, { do: 'zoom', factor: 10, at: locateBlock(opened, rainbowBlock) })
  expect(resizeStage(near, { width: 1000, height: 700 }).camera).toEqual(near.camera)
})

test('the keyboard cursor begins at the centre of the view, moves block by block, and stops at the edge of the wall', () => {
  const begun = reduceState(opened, { do: 'walk', right: 1, down: 0 })
  expect(findShownBlock(begun)).toBe(requireBlockAt(80, 45))
  expect(findShownBlock(reduceState(begun, { do: 'walk', right: 1, down: -1 }))).toBe(requireBlockAt(81, 44))
  expect(findShownBlock(reduceState(begun, { do: 'walk', right: 1000, down: 1000 }))).toBe(requireBlockAt(159, 89))
  expect(findShownBlock(reduceState(begun, { do: 'leave' }))).toBeUndefined()
})

test('a pointer replaces the keyboard cursor, and the next cursor begins at the block under the pointer', () => {
  const walked = reduceState(opened, { do: 'walk', right: 0, down: 0 })
  const pointed = reduceState(walked, { do: 'point', at: locateBlock(opened, openBlock) })
  expect(findShownBlock(pointed)).toBe(openBlock)
  expect(findShownBlock(reduceState(pointed, { do: 'walk', right: 1, down: 0 }))).toBe(openBlock)
})

test('a press on the wall stops its motion, and the wall has no motion for a visitor who prefers reduced motion', () => {
  const near = reduceState(opened, { do: 'zoom', factor: 10 })
  const thrown = reduceState(near, { do: 'throw', vx: 1, vy: 0 })
  expect(reduceState(thrown, { do: 'tick', ms: 16 }).camera.x).toBeLessThan(near.camera.x)
  expect(reduceState(thrown, { do: 'hold' }).motion).toBeUndefined()
  expect(reduceState({ ...near, reducedMotion: true }, { do: 'throw', vx: 1, vy: 0 }).motion).toBeUndefined()
  expect(reduceState({ ...near, reducedMotion: true }, { do: 'fit' }).camera).toEqual(fitWall(view))
})

test('Escape closes one layer at a time', () => {
  let state = reduceState(reduceState(opened, { do: 'select-agent', agent: 0 }), {
    do: 'set-overlay',
    overlay: 'framework',
  })
  state = reduceState(reduceState(state, { do: 'go', to: rainbowBlock }), { do: 'open', panel: 'find' })
  const listLayers = () => [state.panel, state.pinned, state.agent, state.overlay]
  const seen = [listLayers()]
  for (let i = 0; i < 4; i++) {
    state = reduceState(state, { do: 'dismiss' })
    seen.push(listLayers())
  }
  expect(seen).toEqual([
    ['find', rainbowBlock, 0, 'framework'],
    [undefined, rainbowBlock, 0, 'framework'],
    [undefined, undefined, 0, 'framework'],
    [undefined, undefined, undefined, 'framework'],
    [undefined, undefined, undefined, 'none'],
  ])
})

test('the wall counts as moved only after the visitor has moved it', () => {
  expect([home.isMoved, resizeStage(home, { width: 900, height: 600 }).isMoved]).toEqual([false, false])
  expect(reduceState(home, { do: 'open', panel: 'find' }).isMoved).toBe(false)
  expect(reduceState(home, { do: 'pan', dx: 10, dy: 0 }).isMoved).toBe(true)
})

test('a link to an agent opens the agent’s profile, unless the link also contains a block or the page is embedded', () => {
  const place = { camera: undefined, block: undefined, agent: '1', at: undefined }
  expect([goToPlace(home, place).agent, goToPlace(home, place).panel]).toEqual([0, 'profile'])
  expect(goToPlace(home, { ...place, block: rainbowBlock }).panel).toBeUndefined()
  expect(goToPlace(home, { ...place, embedded: true }).panel).toBeUndefined()
})

test('if the camera in a link does not show the artwork in that link, the camera moves to the artwork', () => {
  const far = { camera: { x: 100, y: 100, zoom: 8 }, block: rainbowBlock, agent: undefined, at: undefined }
  expect(fitsBesideDetails(goToPlace(home, far).camera, view, measureWork(home, rainbowBlock))).toBe(true)
  const near = { ...far, camera: { x: 810, y: 455, zoom: 9 } }
  expect(goToPlace(home, near).camera).toEqual(near.camera)
})
