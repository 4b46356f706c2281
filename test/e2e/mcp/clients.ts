/** Clients from different sources that all use the same tools. */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client as NewestClient, StreamableHTTPClientTransport as NewestTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { readOutput } from '../../support/output-of.ts'

type Data = Readonly<Record<string, unknown>>

/** The result of a call; `refused` is true for an error, such as a demand for payment, which has the terms as data. */
export type Found = { readonly data: Data; readonly refused: boolean; readonly pictures: number }

export type ToolUser = {
  listTools(): Promise<readonly string[]>
  callTool(tool: string, args: Data, payment?: unknown): Promise<Found>
  close(): Promise<void>
}

/** The SDK's own client, which validates results with the listed output schemas. */
export async function openSdkClient(url: string): Promise<ToolUser> {
  const client = new Client({ name: 'client', version: '1.0.0' })
  // The SDK's types were not written for exact optional properties.
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Parameters<typeof client.connect>[0])
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    callTool: async (name, args, payment) =>
      parseFound(await client.callTool({ name, arguments: { ...args }, ...createMeta(payment) })),
    close: () => client.close(),
  }
}

type Mode = NonNullable<NonNullable<ConstructorParameters<typeof NewestClient>[1]>['versionNegotiation']>['mode']

/** The client of the SDK's successor, which negotiates the protocol in the way that `mode` names. */
export const openNewestClient =
  (mode: Exclude<Mode, undefined>, spoken: string) =>
  async (url: string): Promise<ToolUser> => {
    const client = new NewestClient({ name: 'client', version: '1.0.0' }, { versionNegotiation: { mode } })
    await client.connect(new NewestTransport(new URL(url)))
    const found = client.getNegotiatedProtocolVersion()
    if (found !== spoken) throw new Error(`the client speaks ${found}, not ${spoken}`)
    return {
      listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
      callTool: async (name, args, payment) =>
        parseFound(await client.callTool({ name, arguments: { ...args }, ...createMeta(payment) })),
      close: () => client.close(),
    }
  }

/** A bare `fetch` that knows only the form of an MCP request and of its response. */
export async function openBareFetch(url: string): Promise<ToolUser> {
  const callMethod = async (method: string, params: Data = {}) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return (await response.json()) as { result?: Data; error?: { code: number; data?: unknown } }
  }
  return {
    listTools: async () => listNames((await callMethod('tools/list')).result),
    async callTool(name, args, payment) {
      const { result = {}, error } = await callMethod('tools/call', { name, arguments: args, ...createMeta(payment) })
      return error === undefined ? parseFound(result) : { data: error.data as Data, refused: true, pictures: 0 }
    },
    close: async () => {},
  }
}

const INSPECTOR = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/clients/cli/build/index.js'))

/** The MCP inspector's command line: a new process for each step, as in a shell script. */
export async function openInspector(url: string): Promise<ToolUser> {
  const runInspector = async (...words: readonly string[]) => {
    const command = [process.execPath, '--bun', INSPECTOR, url, '--transport', 'http', ...words]
    const home = join(tmpdir(), 'pixel-wall-inspector')
    const env = { PATH: Bun.env['PATH'] ?? '', HOME: home }
    const child = Bun.spawn(command, { env, cwd: tmpdir(), stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
    const { out, err } = await readOutput(child)
    if (out === '') throw new Error(err)
    return JSON.parse(out) as Data
  }
  return {
    listTools: async () => listNames(await runInspector('--method', 'tools/list', '--strict')),
    async callTool(name, args, payment) {
      const carried = payment === undefined ? [] : ['--tool-metadata', `x402/payment=${JSON.stringify(payment)}`]
      return parseFound(
        await runInspector(
          '--method',
          'tools/call',
          '--tool-name',
          name,
          '--tool-args-json',
          JSON.stringify(args),
          ...carried,
        ),
      )
    },
    close: async () => {},
  }
}

const listNames = (result: Data | undefined) =>
  (result as { readonly tools: ReadonlyArray<{ readonly name: string }> }).tools.map(({ name }) => name)

const createMeta = (payment: unknown) => (payment === undefined ? {} : { _meta: { 'x402/payment': payment } })

function parseFound(result: Data): Found {
  const { isError, structuredContent, content } = result as {
    readonly isError?: boolean
    readonly structuredContent: Data
    readonly content: ReadonlyArray<{ readonly type: string }>
  }
  return {
    data: structuredContent,
    refused: isError === true,
    pictures: content.filter(({ type }) => type === 'image').length,
  }
}
