/**
 * Third-party clients, and how each is started. `overrides` in their package.json omit packages that only browsers load:
 * half of all packages.
 */

import { join } from 'node:path'

const here = (path: string) => join(import.meta.dir, path)
const bin = (name: string) => here(`node_modules/.bin/${name}`)

/** A client, and the way it is used if there are several. */
export type Client = {
  readonly name: string
  readonly command: (at: At) => readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly signsIn?: true // it also repaints and names itself, by signing in
}

/** The target of a client; with a body it posts JSON. */
export type At = { readonly target: string; readonly body?: string }

const script = (path: string) => () => ['node', '--import', here('offline.mjs'), here(path)]

const buyer = (name: string, path: string): Client => ({ name, command: script(`buyers/${path}.mjs`) })

/** Each buys one block. */
export const BUYERS: readonly Client[] = [
  { ...buyer('@x402/fetch', 'x402-fetch-v2'), signsIn: true },
  buyer('@x402/fetch, older', 'x402-fetch-v2-older'),
  buyer('@x402/axios', 'x402-axios-v2'),
  buyer('x402-fetch (protocol v1)', 'x402-fetch-v1'),
  buyer('x402-axios (protocol v1)', 'x402-axios-v1'),
  buyer('mppx', 'mppx'),
  buyer('mppx, older', 'mppx-older'),
  {
    name: 'mppx CLI',
    command: ({ target }) => ['node', '--import', here('offline.mjs'), bin('mppx'), target, '--protocol', 'x402', '-s'],
  },
  buyer('@faremeter/fetch', 'faremeter'),
  buyer('@dexterai/x402', 'dexter'),
  buyer('thirdweb', 'thirdweb'),
  {
    name: 'agentcash CLI',
    command: ({ target, body }) => [
      'node',
      '--import',
      here('offline.mjs'),
      bin('agentcash'),
      'fetch',
      target,
      ...(body === undefined ? [] : ['-m', 'POST', '-b', body, '-H', 'Content-Type: application/json']),
    ],
    signsIn: true,
  },
  buyer('AWS AgentCore, its documented request', 'agentcore'),
  { ...buyer('AWS AgentCore over MCP', 'agentcore'), env: { VIA: 'mcp' } },
]

const mcp = (name: string, path: string, env: Readonly<Record<string, string>> = {}): Client => ({
  name,
  command: script(`tools/${path}.mjs`),
  env,
})

/** Each lists the tools and uses those that cost nothing. */
export const TOOL_USERS: readonly Client[] = [
  mcp('MCP SDK', 'mcp-sdk'),
  mcp('MCP SDK, older', 'mcp-sdk-older'),
  mcp('MCP client, mode legacy', 'mcp-client', { MODE: 'legacy' }),
  mcp('MCP client, mode auto', 'mcp-client', { MODE: 'auto' }),
  mcp('MCP client, pinned to 2026-07-28', 'mcp-client', { MODE: 'pin' }),
  mcp('AI SDK', 'ai-sdk'),
  mcp('mcporter', 'mcporter'),
]
