import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { useEveryToolOf } from './every-tool.mjs'

const mode = process.env.MODE === 'pin' ? { pin: '2026-07-28' } : process.env.MODE
const client = new Client({ name: 'interop', version: '1.0.0' }, { versionNegotiation: { mode } })
await useEveryToolOf(client, new StreamableHTTPClientTransport(new URL(process.env.MCP_URL)))
