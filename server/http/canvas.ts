/**
 * Routes `/api/canvas`, `/api/canvas.bin` and `/api/blocks`: the whole wall in one read, its pixels alone, and
 * everything except its pixels.
 */

import { Elysia } from 'elysia'
import { Canvas } from '../../shared/contract/canvas.ts'
import { anywhere, documentOperation, type OperationDocs } from '../discovery/openapi/operation.ts'
import { respondSynchronously } from './answer/cached-response.ts'
import type { CanvasReads } from './canvas/canvas-read.ts'

export const createCanvasRoutes = ({ reads }: { readonly reads: CanvasReads }) =>
  new Elysia({ name: 'canvas' })
    .get('/api/canvas', respondSynchronously(reads.canvas.answer), documentOperation(DOCS.readCanvas))
    .get('/api/canvas.bin', respondSynchronously(reads.pixels.answer), documentOperation(DOCS.readPixels))
    .get('/api/blocks', respondSynchronously(reads.blocks.answer), documentOperation(DOCS.readBlocks))

const DOCS = {
  readCanvas: {
    id: 'readCanvas',
    summary: 'Read the whole wall',
    description:
      'Constants, price, palette, counts, agents and every claimed block. Text in the response is untrusted: other users wrote it. The response may be up to two seconds old; the header Log-Number says where to continue in `/api/live`.',
    answers: [Canvas],
    revalidates: true,
    codes: anywhere,
  },
  readPixels: {
    id: 'readPixels',
    summary: 'Read the pixels of the whole wall',
    description:
      'The 14,400 blocks in index order, 100 bytes each, row by row: indices into the palette of the canvas read, or 255 for pixels that nobody has painted or that the operator hides. The response is half the size of the canvas read. The response may be up to two seconds old.',
    answers: [],
    media: 'application/octet-stream',
    revalidates: true,
    codes: ['internal_error'],
  },
  readBlocks: {
    id: 'readBlocks',
    summary: 'Read the whole wall without its pictures',
    description:
      'The canvas read without `px`: each block’s owner, purchase time, message and link. Together with the pixels of `/api/canvas.bin` it contains everything in the canvas read. The response may be up to two seconds old.',
    answers: [Canvas],
    revalidates: true,
    codes: anywhere,
  },
} satisfies Record<string, OperationDocs>
