import { describe, expect, test } from 'bun:test'
import { createGunzip } from 'node:zlib'
import fc from 'fast-check'
import {
  joinGzip,
  joinPieces,
  joinPlain,
  createSegment,
  joinZstd,
} from '../../../../server/http/answer/precompressed-body.ts'

const texts = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('{"i":1,"t":2},'.repeat(500))), {
  maxLength: 12,
})

const createSegments = async (texts: readonly string[]) =>
  await Promise.all(texts.map((text) => createSegment(new TextEncoder().encode(text))))

const joinParts = (parts: readonly string[]) => new TextEncoder().encode(parts.join(''))

/** Decompresses a body as a browser does, up to the end of the first gzip member. Expects that nothing follows it. */
async function inflateFirstMember(body: Uint8Array): Promise<Buffer> {
  const gunzip = createGunzip()
  const chunks: Buffer[] = []
  gunzip.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise((resolve, reject) => gunzip.on('end', resolve).on('error', reject))
  gunzip.end(body)
  await ended
  expect(gunzip.bytesWritten).toBe(body.length)
  return Buffer.concat(chunks)
}

describe('a body of parts', () => {
  test('a body made of parts decodes to its text in every encoding', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (parts) => {
        const segments = await createSegments(parts)
        expect(await joinPieces(joinPlain(segments)).bytes()).toEqual(joinParts(parts))
        expect(new Uint8Array(Bun.gunzipSync(await joinPieces(joinGzip(segments)).bytes()))).toEqual(joinParts(parts))
        if (parts.length > 0)
          expect(new Uint8Array(Bun.zstdDecompressSync(await joinPieces(joinZstd(segments)).bytes()))).toEqual(
            joinParts(parts),
          )
      }),
      { numRuns: 60 },
    )
  })

  test('a gzipped body made of parts is a single gzip member, because browsers drop everything after the first member', async () => {
    const parts = ['{"a":1,', '"b":2,', '', '"c":3}']
    const body = await joinPieces(joinGzip(await createSegments(parts))).bytes()
    expect(new Uint8Array(await inflateFirstMember(body))).toEqual(joinParts(parts))
    // A second member would start with the same three bytes.
    expect(Buffer.from(body).indexOf(Buffer.of(0x1f, 0x8b, 8), 1)).toBe(-1)
  })

  test('a body made of parts arrives whole through fetch', async () => {
    const parts = Array.from({ length: 90 }, (_, row) => `${JSON.stringify({ row, text: 'x'.repeat(row * 40) })}\n`)
    const segments = await createSegments(parts)
    const bodies = { gzip: joinPieces(joinGzip(segments)), zstd: joinPieces(joinZstd(segments)) }
    await using server = Bun.serve({
      port: 0,
      fetch: ({ url }) => {
        const encoding = url.endsWith('zstd') ? 'zstd' : 'gzip'
        return new Response(bodies[encoding], { headers: { 'Content-Encoding': encoding } })
      },
    })
    for (const encoding of ['gzip', 'zstd'])
      expect(await (await fetch(new URL(encoding, server.url))).text()).toBe(parts.join(''))
  })
})
