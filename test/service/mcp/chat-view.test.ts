import { beforeAll, expect, test } from 'bun:test'
import { getToolUiResourceUri, RESOURCE_MIME_TYPE } from '@modelcontextprotocol/ext-apps/app-bridge'
import { buildChatView } from '../../../server/http/answer/viewer-files.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import { NEGOTIATED, sendRpc, buildStatelessRequest, TOOL_LIST } from '../../support/service/agent.ts'
import { openWall, type Wall } from '../../support/service/wall.ts'

// Goal: hosts of MCP Apps find the view of the wall, and let it make requests to the wall only. Method: the MCP Apps
// library reads the tools, and the resource is requested in both kinds of MCP revisions: older and self-contained.

const URI = 'ui://pixel-wall/wall.html'
const HTML = '<title>Pixel Wall</title>'

let wall: Wall
beforeAll(async () => {
  wall = await openWall({ chatView: HTML })
})

test('the metadata of each tool with a view has the URI of the view under both the current and the previous key', () => {
  const shown = TOOL_LIST.filter((tool) => getToolUiResourceUri(tool) !== undefined)
  expect(shown.map(({ name }) => name)).toEqual([
    'get_wall',
    'preview_block',
    'find_space',
    'image_to_pixels',
    'my_wall',
  ])
  for (const tool of shown) expect(tool).toMatchObject({ _meta: { ui: { resourceUri: URI }, 'ui/resourceUri': URI } })
})

test('the view is the only resource, and may make requests to this wall only', async () => {
  const { result: listed } = await sendRpc(wall, { id: 1, method: 'resources/list' }, NEGOTIATED)
  expect(listed).toMatchObject({ resources: [{ uri: URI, mimeType: RESOURCE_MIME_TYPE }] })
  const { result: read } = await sendRpc(wall, { id: 1, method: 'resources/read', params: { uri: URI } }, NEGOTIATED)
  const ui = { csp: { connectDomains: ['https://wall.test'] }, prefersBorder: false }
  expect(read).toEqual({ contents: [{ uri: URI, mimeType: RESOURCE_MIME_TYPE, text: HTML, _meta: { ui } }] })
})

test('the MCP revision without a handshake serves the same view', async () => {
  const { message, headers } = buildStatelessRequest('resources/read', { uri: URI })
  const { result } = await sendRpc(wall, { id: 1, ...message }, headers)
  expect(result).toMatchObject({ contents: [{ uri: URI, text: HTML }] })
})

test('a request for a resource other than the view gets an error', async () => {
  const { error } = await sendRpc(wall, { id: 1, method: 'resources/read', params: { uri: 'ui://other' } }, NEGOTIATED)
  expect(error).toEqual({ code: -32_602, message: 'Unknown resource.', data: { uri: 'ui://other' } })
})

test('the view contains the wall’s address, name and price', async () => {
  const path = `${createScratchFolder()}/chat.html`
  await Bun.write(path, '<head><title>Pixel Wall</title><meta name="wall" content="" /></head>')
  const words = { title: 'A "wall"', price: '5.00' }
  const html = await buildChatView(new Map([['chat.html', path]]), words, 'https://wall.test')
  expect(html).toContain('<title>A &quot;wall&quot;</title><meta name="wall" content="https://wall.test" />')
  expect(html).toContain('<meta name="price" content="5.00" />')
})
