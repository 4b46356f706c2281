import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { useEveryTool } from './every-tool.mjs'

const mode = process.env.MODE === 'pin' ? { pin: '2026-07-28' } : process.env.MODE
const client = new Client({ name: 'interop', version: '1.0.0' }, { versionNegotiation: { mode } })
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.MCP_URL)))
const { tools } = await client.listTools()
await useEveryTool(
  tools.map(({ name }) => name),
  (name, args) => client.callTool({ name, arguments: args }),
)
await client.close()
