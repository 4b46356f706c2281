import { Client } from 'sdk-older/client/index.js'
import { StreamableHTTPClientTransport } from 'sdk-older/client/streamableHttp.js'
import { useEveryTool } from './every-tool.mjs'

const client = new Client({ name: 'interop', version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.MCP_URL)))
const { tools } = await client.listTools()
await useEveryTool(
  tools.map(({ name }) => name),
  (name, args) => client.callTool({ name, arguments: args }),
)
await client.close()
