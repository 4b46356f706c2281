import { createMCPClient } from '@ai-sdk/mcp'
import { useEveryTool } from './every-tool.mjs'

const client = await createMCPClient({ transport: { type: 'http', url: process.env.MCP_URL } })
const tools = await client.tools()
await useEveryTool(Object.keys(tools), (name, args) => tools[name].execute(args, { messages: [], toolCallId: name }))
await client.close()
