import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { fitWall } from '../../../viewer/camera/camera.ts'
import { readAddress, writeAddress } from '../../../viewer/url-state.ts'
import { rainbowBlock } from '../../support/page/sample-wall.ts'
import { blocks, generateCamera } from './any-camera.ts'

const view = { width: 1280, height: 755 }
const nowhere = { camera: undefined, block: undefined, work: false, agent: undefined, at: undefined }

/** Reads an address of the page, split as a browser splits it. */
function openAddress(address: string) {
  const { search, hash } = new URL(address, 'https://wall.example/')
  return readAddress(search, hash)
}

test('a link restores the view in which it was made', () => {
  const place = fc.record({
    camera: generateCamera(view),
    block: fc.option(blocks, { nil: undefined }),
    agent: fc.option(fc.nat().map(String), { nil: undefined }),
    at: fc.option(fc.nat(), { nil: undefined }),
    work: fc.boolean(),
  })
  fc.assert(
    fc.property(place, (wanted) => {
      const { camera, ...rest } = openAddress(writeAddress(wanted, view, ''))
      expect(rest).toEqual({
        block: wanted.block,
        work: wanted.work && wanted.block !== undefined,
        agent: wanted.agent,
        at: wanted.at,
      })
      if (camera === undefined || camera === 'all') return expect(wanted.camera).toEqual(fitWall(view))
      expect(camera.x).toBeCloseTo(wanted.camera.x, 0)
      expect(camera.y).toBeCloseTo(wanted.camera.y, 0)
      expect(camera.zoom).toBeCloseTo(wanted.camera.zoom, 2)
    }),
  )
})

test('an unmoved page has an empty address, the whole wall has the address #all, and unknown parameters are kept', () => {
  expect(writeAddress(nowhere, view, '')).toBe('')
  expect(writeAddress({ ...nowhere, camera: fitWall(view) }, view, '')).toBe('#all')
  expect(openAddress('#all')).toEqual({ ...nowhere, camera: 'all' })
  expect(writeAddress({ ...nowhere, block: rainbowBlock }, view, '?embed=1')).toBe('?embed=1&block=80,45')
  expect(writeAddress(nowhere, view, '?block=80,45&embed=1')).toBe('?embed=1')
})

test('the numbers of a camera are rounded in the address', () => {
  const camera = { x: 805.04, y: 455.26, zoom: 12.34567 }
  expect(writeAddress({ ...nowhere, camera }, view, '')).toBe('#805,455.3,12.346')
})

test('a malformed address opens the default view', () => {
  const malformed = ['?block=160,0', '?block=a', '?at=-1', '?at=1e9', '#1,2', '#a,b,c', '#1,2,0', '#1,2,3,4', '#%']
  for (const address of malformed) expect(openAddress(address)).toEqual(nowhere)
})

test('commas in an address may be percent-encoded', () => {
  expect(openAddress('?block=80%2C45#800%2C450%2C8')).toEqual({
    ...nowhere,
    block: rainbowBlock,
    camera: { x: 800, y: 450, zoom: 8 },
  })
})
