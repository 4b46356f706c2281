/**
 * A host of MCP Apps in a page: calls a tool of a wall, and shows the tool's view in a sandboxed frame with the policy
 * that the wall requests.
 */

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { AppBridge, getToolUiResourceUri, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

/** The tool call that a host shows, and how it shows the view. */
export type Shown = {
  readonly wall: string
  readonly tool: string
  readonly args: Record<string, unknown>
  readonly theme: 'light' | 'dark'
  readonly reaches: boolean // whether the view may make requests to the wall
}

/** The content of the messages that views sent to the model, in order. */
const messages: unknown[] = []

async function showToolView({ wall, tool: name, args, theme, reaches }: Shown): Promise<void> {
  const client = new Client({ name: 'host', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', wall)))
  const { tools } = await client.listTools()
  const uri = getToolUiResourceUri(tools.find((tool) => tool.name === name) ?? {})
  const { contents } = await client.readResource({ uri: uri ?? '' })
  const [view] = contents
  if (view === undefined || !('text' in view)) throw new Error('the tool has no view')
  const { csp } = (view._meta as { ui: { csp: { connectDomains: string[] } } }).ui
  const connect = reaches ? csp.connectDomains : []
  const response = await fetch('/frame', { method: 'POST', body: JSON.stringify({ html: view.text, connect }) })
  const frame = document.createElement('iframe')
  frame.sandbox.add('allow-scripts')
  frame.title = 'A tool'
  document.body.append(frame)
  const target = frame.contentWindow
  if (target === null) throw new Error('the frame has no window')
  const bridge = new AppBridge(
    client,
    { name: 'host', version: '1' },
    { message: { text: {} } },
    { hostContext: { theme } },
  )
  bridge.onmessage = async ({ content }) => {
    messages.push(...content)
    return {}
  }
  bridge.onsizechange = ({ height }) => {
    if (height !== undefined) frame.height = String(height)
  }
  const ready = new Promise<void>((resolve) => (bridge.oninitialized = () => resolve()))
  await bridge.connect(new PostMessageTransport(target, target))
  frame.src = await response.text()
  await ready
  await bridge.sendToolInput({ arguments: args })
  await bridge.sendToolResult(await client.callTool({ name, arguments: args }))
}

Object.assign(globalThis, { host: { show: showToolView, messages } })
