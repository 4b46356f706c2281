import { x402Facilitator } from '@x402/core/facilitator'
import { isPaymentPayloadV2, isPaymentRequirementsV2 } from '@x402/core/schemas'
import type { PaymentPayload, PaymentRequirements, VerifyRequest } from '@x402/core/types'
import { type FacilitatorEvmSigner, toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { BAZAAR } from '@x402/extensions/bazaar'
import { type Address, concat, encodeFunctionData, type Hex, parseEther, parseGwei } from 'viem'
import { type ChainClient, createChainClient, localChainId } from './chain.ts'
import { createTurnQueue, createWallet } from './wallets.ts'

/** How a facilitator is started. */
export type FacilitatorOptions = {
  rpcUrl: string
  /** How long `/settle` waits for a receipt before it returns `settlement_pending` with the transaction's hash. */
  confirmationTimeoutMs?: number
  /** Factories that the facilitator calls to deploy payers' wallets (EIP-6492); without any, it deploys none. */
  allowedFactories?: readonly Address[]
}

/** A facilitator listening on loopback. */
type RunningFacilitator = {
  url: string
  /** The account that pays for gas and sends the transfers. */
  address: Address
  /** Responds to a request as the server at `url` does, without a connection. */
  fetch(request: Request): Promise<Response>
  stop(): Promise<void>
}

/** Starts the reference x402 facilitator on the chain at `rpcUrl`, with its own gas wallet. */
export async function startFacilitator(options: FacilitatorOptions): Promise<RunningFacilitator> {
  const { rpcUrl, confirmationTimeoutMs = 30_000, allowedFactories = [] } = options
  const wallet = await openGasWallet(createChainClient(rpcUrl), confirmationTimeoutMs)
  const facilitator = new x402Facilitator()
    .register(
      `eip155:${localChainId}`,
      new ExactEvmScheme(wallet.signer, { eip6492AllowedFactories: [...allowedFactories] }),
    )
    .registerExtension(BAZAAR)
  const fetch = (request: Request) => answerRequest(facilitator, request)
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    // By default, Bun closes a connection whose settlement takes longer than ten seconds; zero means never.
    idleTimeout: 0,
    fetch,
  })
  return { url: `http://127.0.0.1:${server.port}`, address: wallet.address, fetch, stop: () => server.stop(true) }
}

type Route = { method: string; handle(facilitator: x402Facilitator, request: Request): Promise<Response> }

const routes: Readonly<Record<string, Route>> = {
  '/verify': {
    method: 'POST',
    handle: (facilitator, request) =>
      respondToPayment(request, 'unexpected_verify_error', (...ask) => facilitator.verify(...ask)),
  },
  '/settle': {
    method: 'POST',
    handle: (facilitator, request) =>
      respondToPayment(request, 'unexpected_settle_error', (...ask) => facilitator.settle(...ask)),
  },
  '/supported': { method: 'GET', handle: async (facilitator) => Response.json(facilitator.getSupported()) },
}

async function answerRequest(facilitator: x402Facilitator, request: Request): Promise<Response> {
  const route = routes[new URL(request.url).pathname]
  if (!route) return refuse(404, 'not_found')
  if (route.method !== request.method) return refuse(405, 'method_not_allowed', { Allow: route.method })
  return route.handle(facilitator, request)
}

/** The reference facilitator throws for a malformed payload; hosted facilitators return a 500, and so does this one. */
async function respondToPayment(
  request: Request,
  failure: string,
  decide: (payload: PaymentPayload, requirements: PaymentRequirements) => Promise<object>,
): Promise<Response> {
  const body: unknown = await request.json().catch(() => undefined)
  if (!isVerifyRequest(body)) return refuse(400, 'invalid_request')
  try {
    return Response.json(await decide(body.paymentPayload, body.paymentRequirements))
  } catch {
    return refuse(500, failure)
  }
}

function isVerifyRequest(body: unknown): body is VerifyRequest {
  if (typeof body !== 'object' || body === null) return false
  if (!('x402Version' in body && 'paymentPayload' in body && 'paymentRequirements' in body)) return false
  const { x402Version, paymentPayload, paymentRequirements } = body
  return x402Version === 2 && isPaymentPayloadV2(paymentPayload) && isPaymentRequirementsV2(paymentRequirements)
}

function refuse(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers })
}

/** The account that a facilitator sends from, and the signer for the x402 packages. */
type GasWallet = { address: Address; signer: FacilitatorEvmSigner }

/** Far above any base fee that the local chain can reach in a run, even if all blocks are full. */
const feeCeiling = { maxFeePerGas: parseGwei('10000'), maxPriorityFeePerGas: parseGwei('1') }

/** Makes a fresh account, gives it ether, and lets it send any number of transfers in parallel. */
async function openGasWallet(client: ChainClient, confirmationTimeoutMs: number): Promise<GasWallet> {
  const account = createWallet()
  await client.setBalance({ address: account.address, value: parseEther('1000000') })
  const sendInTurn = createTurnQueue<Hex>(() =>
    client.getTransactionCount({ address: account.address, blockTag: 'pending' }),
  )

  const send = async (call: { to: Address; data: Hex; gas?: bigint | undefined }) => {
    // The estimate runs the call, so a call that would revert fails here and is never broadcast.
    const gas = call.gas ?? (await client.estimateGas({ account: account.address, to: call.to, data: call.data }))
    return sendInTurn(async (nonce) => {
      const transaction = { type: 'eip1559', chainId: localChainId, nonce, gas, ...feeCeiling } as const
      const serializedTransaction = await account.signTransaction({ ...transaction, to: call.to, data: call.data })
      return client.sendRawTransaction({ serializedTransaction })
    })
  }

  const signer = toFacilitatorEvmSigner(
    {
      address: account.address,
      readContract: (call) => client.readContract({ ...call, args: call.args ?? [] }),
      getCode: (of) => client.getCode(of),
      // The type requires this function, but the scheme checks signatures by their digest, with `getCode` and
      // `readContract`.
      verifyTypedData: () => Promise.reject(new Error('typed data is verified by its digest')),
      waitForTransactionReceipt: (wait) => client.waitForTransactionReceipt(wait),
      sendTransaction: send,
      writeContract: ({ address, abi, functionName, args, gas, dataSuffix }) => {
        const data = encodeFunctionData({ abi, functionName, args })
        return send({ to: address, data: dataSuffix ? concat([data, dataSuffix]) : data, gas })
      },
    },
    { confirmationTimeoutMs },
  )
  return { address: account.address, signer }
}
