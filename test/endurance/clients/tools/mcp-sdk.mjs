import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { useEveryToolOf } from './every-tool.mjs'

const client = new Client({ name: 'interop', version: '1.0.0' })
await useEveryToolOf(client, new StreamableHTTPClientTransport(new URL(process.env.MCP_URL)))
