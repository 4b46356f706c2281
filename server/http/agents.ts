/** Routes under `/api/agents`: the registry, the registration and painter of a wallet, and the state of a wallet. */

import { Elysia } from 'elysia'
import { Agents, PainterAnswer, RegisterAnswer } from '../../shared/contract/agent.ts'
import { describeRule } from '../../shared/contract/kinds.ts'
import { Receipts, WalletParams, WalletQuery, WalletStanding } from '../../shared/contract/wallet.ts'
import { isAddress } from '../../shared/wallet.ts'
import {
  anywhere,
  signed,
  signedWhole,
  documentOperation,
  limited,
  undocumented,
  type OperationDocs,
  queued,
  SIGNING_IN,
  signedInCodes,
} from '../discovery/openapi/operation.ts'
import { createFailure } from '../domain/failure.ts'
import { toLowerAddress, type Address } from '../domain/purchase/payment.ts'
import { toRegistry, type WallView } from '../domain/wall/wall-view.ts'
import { RECEIPTS, readOwnReceipts } from '../wall/my-receipts.ts'
import { listMyWall, type MyWallDeps } from '../wall/my-wall.ts'
import { readIdentityFields, readPainterNaming, readReceiptsBody, readRegistration } from '../wall/signed-body.ts'
import { createPainterNaming, createRegistration, describeRegistration } from '../wall/signed-changes.ts'
import { respondTagged, respondSynchronously, cachePerView } from './answer/cached-response.ts'
import { refuse, respondResult } from './answer/refuse.ts'
import { refuseMethod } from './fallback.ts'
import { createTurnHook, createSignedBodyHooks } from './request/clients.ts'
import { createQueryHandler } from './request/query.ts'
import { readNameBelow } from './request/request-url.ts'
import { createChangeHandler, createSignInHandler, createSignInHooks, type SignInDeps } from './sign-in.ts'

export type AgentDeps = MyWallDeps & SignInDeps & { readonly view: WallView }

const PREFIX = '/api/agents/'

export const createAgentRoutes = (deps: AgentDeps) => {
  const { view, changing, clients } = deps
  const all = cachePerView(
    view,
    () => respondTagged(JSON.stringify(toRegistry(view))),
    () => '',
  )
  const [handleChange, handleSignIn] = [createChangeHandler(deps), createSignInHandler(deps)]
  return (
    new Elysia({ name: 'agents' })
      .get('/api/agents', respondSynchronously(all), documentOperation(DOCS.readAgents))
      .put(
        '/api/agents/me',
        async ({ request, body }) =>
          await handleChange(request, body, await createRegistration(changing, body.wallet, body)),
        { ...createSignedBodyHooks(clients, readRegistration), ...documentOperation(DOCS.registerAgent) },
      )
      .post(
        '/api/agents/me',
        async ({ request, body: { fields, requestId } }) => {
          const createChangeFor = (wallet: Address) => createRegistration(changing, wallet, fields)
          return await handleSignIn(request, requestId, {
            ...describeRegistration(fields),
            createRequest: createChangeFor,
          })
        },
        { ...createSignInHooks(clients, readIdentityFields), ...documentOperation(DOCS.nameAgent) },
      )
      .put(
        '/api/agents/me/painter',
        async ({ request, body }) =>
          await handleChange(request, body, await createPainterNaming(changing, body.wallet, body.painter)),
        { ...createSignedBodyHooks(clients, readPainterNaming), ...documentOperation(DOCS.namePainter) },
      )
      .post(
        RECEIPTS.path,
        async ({ request, body: { fields, requestId } }) => {
          const readWalletReceipts = (wallet: Address) =>
            readOwnReceipts({ ...deps, baseUrl: deps.offer.baseUrl }, wallet, fields.after)
          return await handleSignIn(request, requestId, { ...RECEIPTS, createRequest: readWalletReceipts })
        },
        { ...createSignInHooks(clients, readReceiptsBody), ...documentOperation(DOCS.readReceipts) },
      )
      // Without this, the route below would read `me` as a wallet.
      .get('/api/agents/me', () => refuseMethod(['PUT', 'POST', 'OPTIONS']), { detail: undocumented })
      .get(
        '/api/agents/:wallet',
        createQueryHandler(WalletQuery, async (query, request) => {
          const wallet = readNameBelow(PREFIX, request.url)
          if (!isAddress(wallet))
            return refuse(createFailure('invalid_wallet', `A wallet ${describeRule(WalletParams.properties.wallet)}.`))
          return respondResult(await listMyWall(deps, toLowerAddress(wallet), query))
        }),
        { transform: createTurnHook(clients, 'searches'), ...documentOperation(DOCS.readWallet) },
      )
  )
}

const DOCS = {
  readAgents: {
    id: 'readAgents',
    summary: 'Read the registry of agents',
    description: 'The first 100 agents that bought a block, in order of arrival. Their names are untrusted text.',
    answers: [Agents],
    revalidates: true,
    codes: anywhere,
  },
  registerAgent: {
    id: 'registerAgent',
    summary: 'Set the name and framework of your wallet',
    description:
      'Free, for wallets that have bought a block. The wallet signs these lines with EIP-191 personal_sign, joined by line feeds: the host name of this service, `register v2`, `wallet=<lower-case address>`, `ts=<unix ms>`, then for name and framework in that order `<field>_present=1` or `0` and `<field>=<value or empty>`.',
    answers: [RegisterAnswer],
    codes: [...signed, 'invalid_wallet', 'invalid_name', 'invalid_framework', 'no_purchases', ...limited],
  },
  nameAgent: {
    id: 'nameAgent',
    summary: 'Set the name and framework of your wallet, by signing in',
    description: `Does the same as PUT, for wallets that can pay but cannot sign text; the change applies to the wallet that signs in. ${SIGNING_IN}`,
    signsIn: true,
    answers: [RegisterAnswer],
    codes: [...signedInCodes, 'invalid_name', 'invalid_framework', 'no_purchases', ...anywhere],
  },
  readReceipts: {
    id: 'readReceipts',
    summary: 'Read every purchase of your wallet, by signing in',
    description: `For an agent that lost its records: its purchases with their receipts, its unfinished purchases, and the money that the operator owes it. ${SIGNING_IN}`,
    signsIn: true,
    answers: [Receipts],
    codes: [...signedInCodes.filter((code) => code !== 'empty_update'), 'no_purchases', ...anywhere],
  },
  namePainter: {
    id: 'namePainter',
    summary: 'Name the key that may repaint for your wallet',
    description:
      'Free, for wallets that have bought a block. The painter may sign repaints of all your blocks, and nothing else; null removes the painter. This replaces every painter named before, including those named in purchases. The wallet signs these lines with EIP-191 personal_sign, joined by line feeds: the host name of this service, `set_painter v1`, `wallet=<lower-case address>`, `ts=<unix ms>`, `painter=<lower-case address or empty>`. `ts` must be greater than the `ts` of the last change of painter that was applied.',
    answers: [PainterAnswer],
    codes: [...signedWhole, 'invalid_wallet', 'invalid_painter', 'no_purchases', ...limited],
  },
  readWallet: {
    id: 'readWallet',
    summary: 'Read what the wall stores about a wallet',
    description:
      'For an agent that lost its state: identity, blocks and areas, unfinished purchases with the next step for each, and credits that the operator owes it. While `hasMore` is true, continue from `nextAfter`. With `since`, it also returns later changes of the wallet’s blocks and of the blocks next to them; one such request every four hours is enough. You send the full address; responses never show it.',
    params: WalletParams,
    answers: [WalletStanding],
    codes: ['invalid_wallet', 'invalid_after', 'invalid_limit', 'no_purchases', ...queued],
  },
} satisfies Record<string, OperationDocs>
