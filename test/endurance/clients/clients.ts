/**
 * Third-party clients, and how each is started. The `overrides` in their package.json replace half of all packages,
 * those that only browsers load, with a tiny one.
 */

import { join } from 'node:path'
import { NODE } from '../../support/node.ts'

const resolvePath = (path: string) => join(import.meta.dir, path)
const locateBin = (name: string) => resolvePath(`node_modules/.bin/${name}`)

/** A client; if there are several ways to use it, its name says which way is meant. */
export type Client = {
  readonly name: string
  readonly buildCommand: (at: At) => readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly signsIn?: true // it also signs in, to repaint its block and to name itself
}

/** The URL that a client requests; with a `body`, the client posts it as JSON. */
export type At = { readonly target: string; readonly body?: string }

const createScriptCommand = (path: string) => () => [NODE, '--import', resolvePath('offline.mjs'), resolvePath(path)]

const createBuyer = (name: string, path: string): Client => ({
  name,
  buildCommand: createScriptCommand(`buyers/${path}.mjs`),
})

/** The clients that each buy one block. */
export const BUYERS: readonly Client[] = [
  { ...createBuyer('@x402/fetch', 'x402-fetch-v2'), signsIn: true },
  createBuyer('@x402/fetch, older', 'x402-fetch-v2-older'),
  createBuyer('@x402/axios', 'x402-axios-v2'),
  createBuyer('x402-fetch (protocol v1)', 'x402-fetch-v1'),
  createBuyer('x402-axios (protocol v1)', 'x402-axios-v1'),
  createBuyer('mppx', 'mppx'),
  createBuyer('mppx, older', 'mppx-older'),
  {
    name: 'mppx CLI',
    buildCommand: ({ target }) => [
      NODE,
      '--import',
      resolvePath('offline.mjs'),
      locateBin('mppx'),
      target,
      '--protocol',
      'x402',
      '-s',
    ],
  },
  createBuyer('@faremeter/fetch', 'faremeter'),
  createBuyer('@dexterai/x402', 'dexter'),
  createBuyer('thirdweb', 'thirdweb'),
  {
    name: 'agentcash CLI',
    buildCommand: ({ target, body }) => [
      NODE,
      '--import',
      resolvePath('offline.mjs'),
      locateBin('agentcash'),
      'fetch',
      target,
      ...(body === undefined ? [] : ['-m', 'POST', '-b', body, '-H', 'Content-Type: application/json']),
    ],
    signsIn: true,
  },
  createBuyer('AWS AgentCore, its documented request', 'agentcore'),
  { ...createBuyer('AWS AgentCore over MCP', 'agentcore'), env: { VIA: 'mcp' } },
]

const createMcpClient = (name: string, path: string, env: Readonly<Record<string, string>> = {}): Client => ({
  name,
  buildCommand: createScriptCommand(`tools/${path}.mjs`),
  env,
})

/** The clients that each list the tools and use all of the free ones. */
export const TOOL_USERS: readonly Client[] = [
  createMcpClient('MCP SDK', 'mcp-sdk'),
  createMcpClient('MCP SDK, older', 'mcp-sdk-older'),
  createMcpClient('MCP client, mode legacy', 'mcp-client', { MODE: 'legacy' }),
  createMcpClient('MCP client, mode auto', 'mcp-client', { MODE: 'auto' }),
  createMcpClient('MCP client, pinned to 2026-07-28', 'mcp-client', { MODE: 'pin' }),
  createMcpClient('AI SDK', 'ai-sdk'),
  createMcpClient('mcporter', 'mcporter'),
]
