import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openWall } from '../../support/service/wall.ts'
import { expectSnapshot, printWithReferences } from '../../support/snapshot.ts'

// Snapshots of all text that agents read, so that reviewers read it too. `bun run snapshots` updates them.

const documents: ReadonlyArray<readonly [path: string, file: string]> = [
  ['/', 'guide.md.txt'],
  ['/llms.txt', 'llms.txt'],
  ['/llms-full.txt', 'llms-full.txt'],
  ['/skill.md', 'skill.md.txt'],
  ['/heartbeat.md', 'heartbeat.md.txt'],
  ['/openapi.json', 'openapi.yaml.txt'],
  ['/.well-known/agent-skills/index.json', 'agent-skills.yaml.txt'],
  ['/.well-known/x402', 'x402.yaml.txt'],
  ['/.well-known/mcp/server-card.json', 'server-card.yaml.txt'],
  ['/server.json', 'server.yaml.txt'],
  ['/.well-known/api-catalog', 'api-catalog.yaml.txt'],
  ['/robots.txt', 'robots.txt'],
  ['/sitemap.xml', 'sitemap.xml.txt'],
  ['/.well-known/security.txt', 'security.txt'],
  ['/favicon.svg', 'favicon.svg.txt'],
]

const wall = await openWall()
const readText = async (path: string) =>
  await (await wall.sendRequest(`GET ${path}`, { headers: { accept: '*/*, text/markdown' } })).text()
// Two other documents contain the whole guide except its heading.
const [, guide = ''] = (await readText('/')).split(/^# .*\n/)
const SEEN = '(here stands the guide, as in guide.md.txt)\n'

test.each(documents)('%s equals its snapshot', async (path, name) => {
  const response = await wall.sendRequest(`GET ${path}`, { headers: { accept: '*/*, text/markdown' } })
  expect(response.status).toBe(200)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  const shown = isJson
    ? printWithReferences({ [path]: JSON.parse(text) }).get(path)
    : path === '/'
      ? text
      : text.replace(guide, SEEN)
  await expectSnapshot(shown ?? '', join(import.meta.dir, 'snapshots', name))
})
