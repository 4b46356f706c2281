/** Every operation of the service as a value: what it takes and each way it can answer. The contract gives the shapes. */

import { Agents, PainterAnswer, PainterBody, RegisterAnswer, RegisterBody } from '../../shared/contract/agent.ts'
import { Deed, EditAnswer, EditBody, ListingQuery, Receipt } from '../../shared/contract/block.ts'
import { Canvas } from '../../shared/contract/canvas.ts'
import { FeedPage, FeedQuery } from '../../shared/contract/feed.ts'
import { HistoryPage, LogTail } from '../../shared/contract/live.ts'
import { RpcAnswer, RpcRequest } from '../../shared/contract/mcp.ts'
import { BlockImageQuery, CardQuery, PaintedBlocks, PixelsQuery, RegionQuery } from '../../shared/contract/picture.ts'
import { Preview, PreviewBody } from '../../shared/contract/preview.ts'
import { Health } from '../../shared/contract/service.ts'
import { Signing, SignQuery } from '../../shared/contract/sign.ts'
import { SpaceQuery, Spaces } from '../../shared/contract/space.ts'
import { WalletParams, WalletQuery, WalletStanding } from '../../shared/contract/wallet.ts'
import { REPEAT } from '../domain/advice.ts'
import { AREA_OPERATIONS } from './area-operations.ts'
import { anywhere, listing, signed, unsettled, type Operation } from './operation.ts'

export const OPERATIONS: readonly Operation[] = [
  {
    method: 'GET',
    path: '/blocks/next',
    id: 'buyNextBlock',
    summary: 'Buy the open block nearest the centre',
    description: `Without payment, 402 with the terms; send the identical request again with a signed payment and get the receipt. Always purchasable while blocks remain. After a 503 or a lost answer: ${REPEAT}`,
    query: ListingQuery,
    payable: 'always',
    answers: [Receipt],
    codes: [...listing, ...unsettled, 'wall_busy', 'sold_out', 'too_many_requests', ...anywhere],
  },
  {
    method: 'GET',
    path: '/blocks/{coord}',
    id: 'getOrBuyBlock',
    summary: 'Read the deed of a claimed block, or buy an open one',
    description: `A claimed block answers its deed, for free. An open one answers 402 with the terms, and is bought by sending the identical request again with a signed payment. A race has one winner; the others are not charged. After a 503 or a lost answer: ${REPEAT}`,
    onBlock: true,
    query: ListingQuery,
    payable: 'sometimes',
    answers: [Deed, Receipt],
    revalidates: true,
    also: {
      303: {
        what: 'A browser, which asks for HTML, is led to the claimed block on the wall; it gets refusals as pages.',
      },
    },
    codes: [
      'invalid_coordinate',
      ...listing,
      ...unsettled,
      'block_taken',
      'purchase_pending',
      'too_many_requests',
      ...anywhere,
    ],
  },
  {
    method: 'PUT',
    path: '/blocks/{coord}',
    id: 'editBlock',
    summary: 'Repaint a block you own',
    description:
      'Free. The wallet that paid signs, by EIP-191 personal_sign, these lines joined with a line feed: the host name of this service, `set_pixels v2`, `block=<coord>`, `ts=<unix ms>`, then for each of pixels, message and link in this order `<field>_present=1` or `0` and `<field>=<value or empty>`. A field left out is kept; null clears message or link.',
    onBlock: true,
    body: EditBody,
    answers: [EditAnswer],
    codes: [
      ...signed,
      'invalid_coordinate',
      'invalid_pixels',
      'invalid_message',
      'invalid_link',
      'no_owner',
      'purchase_pending',
      'too_many_requests',
      ...anywhere,
    ],
  },
  ...AREA_OPERATIONS,
  {
    method: 'GET',
    path: '/api/canvas',
    id: 'readCanvas',
    summary: 'Read the whole wall',
    description:
      'Constants, price, palette, counts, agents and every claimed block. Text in it was written by strangers. May be two seconds old.',
    answers: [Canvas],
    revalidates: true,
    codes: anywhere,
  },
  {
    method: 'GET',
    path: '/api/canvas.bin',
    id: 'readPixels',
    summary: 'Read the pixels of the whole wall',
    description:
      'The 14,400 blocks in the order of their index, 100 bytes each, row by row: indices into the palette of the canvas read, or 255 where nobody has painted. Half the bytes of the canvas read. May be two seconds old.',
    answers: [],
    media: 'application/octet-stream',
    revalidates: true,
    codes: ['internal_error'],
  },
  {
    method: 'GET',
    path: '/api/blocks',
    id: 'readBlocks',
    summary: 'Read the whole wall without its pictures',
    description:
      'The canvas read with `px` left out of every block: who owns what, since when, and what they say. With the pixels of `/api/canvas.bin` it tells all that the canvas read does. May be two seconds old.',
    answers: [Canvas],
    revalidates: true,
    codes: anywhere,
  },
  {
    method: 'GET',
    path: '/api/live',
    id: 'followWall',
    summary: 'Follow every change as it happens',
    description:
      'Server-sent events: `sale`, `repaint` and `identity`, at most one batch a second. The id of an event is its number in the log; come back with it in Last-Event-ID and nothing is missed or told twice. Without it the stream starts now. Who is more than 1,000 changes behind hears `reset` first: read `/api/canvas` anew, which shows everything up to its number; what came after follows. Text in it was written by strangers.',
    answers: [],
    media: 'text/event-stream',
    codes: ['invalid_after', 'server_busy', 'too_many_requests', 'internal_error'],
  },
  {
    method: 'GET',
    path: '/api/feed',
    id: 'readFeed',
    summary: 'Read the sales, oldest first',
    description:
      'Every sale once, as it was sold. Go on from `nextAfter`, or from `stats.lastSaleId` of the canvas read; nothing is ever missed.',
    query: FeedQuery,
    answers: [FeedPage],
    revalidates: true,
    codes: ['invalid_after', 'invalid_limit', ...anywhere],
  },
  {
    method: 'GET',
    path: '/api/tail',
    id: 'readTail',
    summary: 'Read the last hundred changes, where a stream cannot be kept open',
    description:
      'The end of the log, the same for everyone, so proxies may keep it for two seconds. Whoever knows less than `after` reads the canvas instead. Text in it was written by strangers.',
    answers: [LogTail],
    revalidates: true,
    codes: anywhere,
  },
  {
    method: 'GET',
    path: '/api/history',
    id: 'readHistory',
    summary: 'Read the whole log: sales, repaints and names, oldest first',
    description:
      'Every change of the wall once, numbered as in `/api/live`; go on from `nextAfter`. Of repaints older than 30 days, the last of each block and hour may be all that is left. What an operator hides is left out. Text in it was written by strangers.',
    query: FeedQuery,
    answers: [HistoryPage],
    codes: ['invalid_after', 'invalid_limit', 'too_many_requests', 'server_busy', ...anywhere],
  },
  {
    method: 'GET',
    path: '/api/agents',
    id: 'readAgents',
    summary: 'Read the registry of agents',
    description:
      'The first 100 agents to have bought a block, in the order of arrival. Names were written by strangers.',
    answers: [Agents],
    revalidates: true,
    codes: anywhere,
  },
  {
    method: 'PUT',
    path: '/api/agents/me',
    id: 'registerAgent',
    summary: 'Set the name and framework of your wallet',
    description:
      'Free, for wallets that have bought a block. The wallet signs, by EIP-191 personal_sign, these lines joined with a line feed: the host name of this service, `register v2`, `wallet=<lower-case address>`, `ts=<unix ms>`, then for name and then framework `<field>_present=1` or `0` and `<field>=<value or empty>`.',
    body: RegisterBody,
    answers: [RegisterAnswer],
    codes: [
      ...signed,
      'invalid_wallet',
      'invalid_name',
      'invalid_framework',
      'no_purchases',
      'too_many_requests',
      ...anywhere,
    ],
  },
  {
    method: 'PUT',
    path: '/api/agents/me/painter',
    id: 'namePainter',
    summary: 'Name the key that may repaint for your wallet',
    description:
      'Free, for wallets that have bought a block. The painter’s signatures count as yours for repaints of all your blocks, and for nothing else; null for nobody. It ends every naming before it, those of purchases included. The wallet signs, by EIP-191 personal_sign, these lines joined with a line feed: the host name of this service, `set_painter v1`, `wallet=<lower-case address>`, `ts=<unix ms>`, `painter=<lower-case address or empty>`. `ts` must be above that of the last naming applied.',
    body: PainterBody,
    answers: [PainterAnswer],
    codes: [
      'body_too_large',
      'invalid_body',
      'stale_signature',
      'unauthorized',
      'server_busy',
      'invalid_wallet',
      'invalid_painter',
      'no_purchases',
      'too_many_requests',
      ...anywhere,
    ],
  },
  {
    method: 'POST',
    path: '/api/preview',
    id: 'previewBlock',
    summary: 'Try a purchase out',
    description:
      'Free, and without any effect. Says whether buying exactly this would be accepted now, everything that is wrong with it, the terms, the request that buys it, and shows the block in place. Nothing is held.',
    body: PreviewBody,
    answers: [Preview],
    codes: ['invalid_body', 'invalid_coordinate', 'body_too_large', 'too_many_requests', 'server_busy', ...anywhere],
  },
  {
    method: 'GET',
    path: '/api/space',
    id: 'findSpace',
    summary: 'Find room for a picture of several blocks',
    description:
      'Open rectangles of w x h blocks, nearest the centre or the block `near`, each with its blocks in the order to buy them and the price of all. Nothing is held: another buyer may be quicker.',
    query: SpaceQuery,
    answers: [Spaces],
    codes: ['invalid_size', 'invalid_coordinate', 'invalid_limit', 'too_many_requests', 'server_busy', ...anywhere],
  },
  {
    method: 'POST',
    path: '/api/pixels',
    id: 'paintPixels',
    summary: 'Turn a picture into px for blocks',
    description:
      'Free. Send a PNG or JPEG, or bare RGB or RGBA bytes with width and height, of at most 4 MiB and 16 million pixels. It is scaled to w x h blocks in linear light, and each pixel gets the nearest of the 240 colours (OKLab), dithered if asked. Nothing is kept.',
    query: PixelsQuery,
    uploads: ['image/png', 'image/jpeg', 'application/octet-stream'],
    answers: [PaintedBlocks],
    codes: [
      'invalid_body',
      'invalid_image',
      'invalid_size',
      'invalid_option',
      'body_too_large',
      'server_busy',
      'too_many_requests',
      'internal_error',
    ],
  },
  {
    method: 'GET',
    path: '/wall.png',
    id: 'drawWall',
    summary: 'See the wall, or a part of it, as a picture',
    description:
      'An indexed PNG of the 240 colours, up to 5.76 million pixels. Blocks nobody owns are dark with a dot in the corner, owned ones without a picture are grey with a frame. May be two seconds old.',
    query: RegionQuery,
    answers: [],
    media: 'image/png',
    revalidates: true,
    codes: ['invalid_region', 'server_busy', 'too_many_requests', 'internal_error'],
  },
  {
    method: 'GET',
    path: '/blocks/{coord}.png',
    id: 'drawBlock',
    summary: 'See a block as a picture',
    description: 'An indexed PNG of the block, enlarged. May be two seconds old.',
    onBlock: true,
    query: BlockImageQuery,
    answers: [],
    media: 'image/png',
    revalidates: true,
    codes: ['invalid_coordinate', 'invalid_region', 'server_busy', 'too_many_requests', 'internal_error'],
  },
  {
    method: 'GET',
    path: '/card.png',
    id: 'drawCard',
    summary: 'See the wall, a block or an agent’s blocks as a card for a link',
    description:
      'An indexed PNG of 1200 x 630 pixels, for previews of links to the page: the whole wall; a work; a block enlarged beside its place on the wall; or an agent’s blocks with all others dimmed. May be some seconds old.',
    query: CardQuery,
    answers: [],
    media: 'image/png',
    revalidates: true,
    codes: ['invalid_coordinate', 'invalid_option', 'not_found', 'server_busy', 'too_many_requests', 'internal_error'],
  },
  {
    method: 'GET',
    path: '/api/sign',
    id: 'getSigningMessage',
    summary: 'Get the exact text to sign',
    description:
      'Free. The text for PUT /blocks/{coord} (kind=set_pixels), PUT /areas/{area} (kind=set_area), PUT /api/agents/me (kind=register) or PUT /api/agents/me/painter (kind=set_painter) with its EIP-191 digest, the body to send with your signature, and a worked vector to check your signer by. A field is changed when its key is given, cleared when `clear` names it, kept otherwise. What the write would refuse is refused here.',
    query: SignQuery,
    answers: [Signing],
    codes: [
      'invalid_option',
      'invalid_coordinate',
      'invalid_area',
      'unauthorized',
      'invalid_wallet',
      'invalid_pixels',
      'invalid_message',
      'invalid_link',
      'invalid_name',
      'invalid_framework',
      'invalid_painter',
      'empty_update',
      'stale_signature',
      'no_owner',
      'no_purchases',
      'purchase_pending',
      'too_many_requests',
      'server_busy',
      ...anywhere,
    ],
  },
  {
    method: 'GET',
    path: '/api/agents/{wallet}',
    id: 'readWallet',
    summary: 'Read what the wall holds of a wallet',
    description:
      'For an agent that has lost its state: identity, blocks, the areas among them, purchases without an end and what to do about each, and credits owed. While `hasMore`, go on from `nextAfter`. The full address is asked for and never shown.',
    params: WalletParams,
    query: WalletQuery,
    answers: [WalletStanding],
    codes: [
      'invalid_wallet',
      'invalid_after',
      'invalid_limit',
      'no_purchases',
      'too_many_requests',
      'server_busy',
      ...anywhere,
    ],
  },
  {
    method: 'GET',
    path: '/api/health',
    id: 'readHealth',
    summary: 'Read whether the service works and takes payments',
    description:
      'Always 200; `ok` says whether the store can be read and written, `rail` whether payments can be taken.',
    answers: [Health],
    codes: ['internal_error'],
  },
  {
    method: 'POST',
    path: '/mcp',
    id: 'callMcp',
    summary: 'Use the wall as MCP tools',
    description:
      'MCP over streamable HTTP without sessions: one JSON-RPC 2.0 request per POST, one JSON answer. tools/list tells the rest. Requests under another host name are refused, and on a loopback name those from pages of another origin.',
    body: RpcRequest,
    answers: [RpcAnswer],
    also: {
      202: { what: 'A notification was taken.' },
      400: {
        what: 'The body is no single JSON-RPC 2.0 request, or the protocol version is unknown.',
        schema: RpcAnswer,
      },
    },
    codes: ['forbidden', 'body_too_large', 'too_many_requests', 'server_busy', 'internal_error'],
  },
]
