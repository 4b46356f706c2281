import { Client } from 'sdk-older/client/index.js'
import { StreamableHTTPClientTransport } from 'sdk-older/client/streamableHttp.js'
import { useEveryToolOf } from './every-tool.mjs'

const client = new Client({ name: 'interop', version: '1.0.0' })
await useEveryToolOf(client, new StreamableHTTPClientTransport(new URL(process.env.MCP_URL)))
