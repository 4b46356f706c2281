import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { useEveryTool } from './every-tool.mjs'

const { MCP_URL, HOME } = process.env
const run = promisify(execFile)
const mcporter = async (...args) => {
  const command = join(import.meta.dirname, '../node_modules/.bin/mcporter')
  const { stdout } = await run(command, args, { cwd: HOME, maxBuffer: 16 * 1024 * 1024 })
  return JSON.parse(stdout)
}

const { tools } = await mcporter('list', MCP_URL, '--allow-http', '--schema', '--json')
await useEveryTool(
  tools.map(({ name }) => name),
  // mcporter prints the structured content, and fails if the tool fails.
  async (name, args) => ({
    structuredContent: await mcporter(
      'call',
      `${MCP_URL}.${name}`,
      '--allow-http',
      '--output',
      'json',
      '--args',
      JSON.stringify(args),
    ),
  }),
)
