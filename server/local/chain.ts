import { createTestClient, defineChain, http, parseEther, publicActions } from 'viem'
import { findAnvilBinary } from './anvil-binary.ts'
import { dollarAddress, dollarCode, minterAddress, multicallAddress, multicallCode } from './token/contracts.ts'

/** The chain id of Base, so that payments signed here look like real ones. */
export const localChainId = 8453

/**
 * How the chain makes blocks. By default, it makes one per transaction plus one per second, like a live chain. With
 * `blockTimeSeconds`, which may be a fraction, it makes one per such period; if `idle`, one per transaction only.
 */
export type ChainOptions = { blockTimeSeconds?: number; idle?: boolean }

const BLOCK_EVERY_MS = 1000

/** A client that reads the chain and changes its clock, blocks and balances. */
export type ChainClient = ReturnType<typeof createChainClient>

/** A running chain that this process started. */
export type Chain = {
  rpcUrl: string
  /** The process id of the node. */
  pid: number
  client: ChainClient
  /** Stops making blocks, even for transactions, until `resume` is called. */
  halt(): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a node on a free loopback port and deploys the dollar and multicall contracts; throws `AnvilMissing` if anvil
 * is not installed.
 */
export async function startChain(options: ChainOptions = {}): Promise<Chain> {
  const node = Bun.spawn([findAnvilBinary(), ...listNodeArguments(options)], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    // A Ctrl-C at the terminal must reach only this process, which may have payments to finish first.
    detached: true,
  })
  const guard = guardAgainstOrphans(node)
  let timer: Timer | undefined
  const stop = async () => {
    clearInterval(timer)
    node.ref()
    // The node has nothing to save, so it is killed immediately.
    node.kill('SIGKILL')
    await node.exited
    await guard?.exited
  }
  try {
    const rpcUrl = `http://${await readListeningAddress(node)}`
    const client = createChainClient(rpcUrl)
    await prepareChain(client)
    const resume = async () => {
      await client.setAutomine(true)
      timer = mineEverySecond(client)
    }
    const stopMining = async () => {
      clearInterval(timer)
      await client.setAutomine(false)
    }
    if (options.idle !== true && options.blockTimeSeconds === undefined) timer = mineEverySecond(client)
    return { rpcUrl, pid: node.pid, client, halt: stopMining, resume, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Connects to a chain started here. Nothing is retried or cached, so that a test sees each response as it is. */
export function createChainClient(rpcUrl: string) {
  const chain = defineChain({
    id: localChainId,
    name: 'Pixel Wall embedded network',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
    contracts: { multicall3: { address: multicallAddress } },
  })
  const transport = http(rpcUrl, { retryCount: 0 })
  return createTestClient({ mode: 'anvil', chain, transport, pollingInterval: 20, cacheTime: 0 }).extend(publicActions)
}

/**
 * Makes a block each second. The node's own timer cannot be stopped and restarted while the node also makes a block per
 * transaction.
 */
function mineEverySecond(client: ChainClient): Timer {
  let isMining = false
  const mineBlock = async () => {
    if (isMining) return
    isMining = true
    // Errors are ignored, because the node may have been stopped.
    await client.mine({ blocks: 1 }).catch(() => {})
    isMining = false
  }
  const timer = setInterval(() => void mineBlock(), BLOCK_EVERY_MS)
  timer.unref()
  return timer
}

type Node = Bun.Subprocess<'ignore', 'pipe', 'pipe'>

function listNodeArguments({ blockTimeSeconds }: ChainOptions): string[] {
  const fixed = ['--host', '127.0.0.1', '--port', '0', '--chain-id', String(localChainId), '--accounts', '0']
  // Without this, anvil would write old states to a folder in the user's home.
  const memoryOnly = ['--max-persisted-states', '0']
  const pace = blockTimeSeconds === undefined ? [] : ['--block-time', String(blockTimeSeconds)]
  return [...fixed, ...memoryOnly, ...pace, '--color', 'never']
}

/**
 * Reads the node's output until it contains the address, then discards the rest, because a full pipe would stop the
 * node.
 */
async function readListeningAddress(node: Node): Promise<string> {
  const complaint = new Response(node.stderr).text()
  const lines = node.stdout.pipeThrough(new TextDecoderStream()).getReader()
  let output = ''
  for (;;) {
    const { value, done } = await lines.read()
    if (done) throw new Error(`anvil ended before it was listening: ${(await complaint).trim() || output.trim()}`)
    output += value
    const address = /Listening on (\S+)\s/.exec(output)?.[1]
    if (address) {
      void discardOutput(lines)
      return address
    }
  }
}

async function discardOutput(lines: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await lines.read()).done);
}

async function prepareChain(client: ChainClient): Promise<void> {
  await client.setLoggingEnabled(false)
  await client.setCode({ address: dollarAddress, bytecode: dollarCode })
  await client.setCode({ address: multicallAddress, bytecode: multicallCode })
  await client.impersonateAccount({ address: minterAddress })
  await client.setBalance({ address: minterAddress, value: parseEther('1000000') })
}

/**
 * Kills the node once this process has ended, even by SIGKILL. A shell waits until the pipe that only this process
 * keeps open is closed, then kills the node and exits. Windows has no such shell, so it has no guard.
 */
function guardAgainstOrphans(node: Node) {
  if (process.platform === 'win32') return undefined
  const script = `read _; kill -9 ${node.pid}`
  const streams = { stdin: 'pipe', stdout: 'ignore', stderr: 'ignore' } as const
  const guard = Bun.spawn(['/bin/sh', '-c', script], { ...streams, detached: true })
  guard.unref()
  node.unref()
  // Once the node has ended, another process may get its process id, so the guard must be killed immediately.
  void node.exited.then(() => guard.kill('SIGKILL'))
  return guard
}
