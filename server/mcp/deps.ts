/** What the tools work with: the use cases HTTP serves, and what they read from. */

import type { PainterBody } from '../../shared/contract/agent.ts'
import type { EditAreaBody } from '../../shared/contract/area.ts'
import type { EditBody } from '../../shared/contract/block.ts'
import type { Failure } from '../domain/failure.ts'
import type { Blocks } from '../ports.ts'
import type { SellTo } from '../purchase/limited-seller.ts'
import type { Offering } from '../purchase/offer-area.ts'
import type { Seller } from '../purchase/seller.ts'
import type { EditDeps } from '../wall/edit-block.ts'
import type { FindSpace } from '../wall/find-space.ts'
import type { MyWallDeps } from '../wall/my-wall.ts'
import type { PreviewDeps } from '../wall/preview-block.ts'
import type { RateLimits } from '../wall/rate-limits.ts'
import type { Registering } from '../wall/register-agent.ts'
import type { SigningHelp } from '../wall/signing-message.ts'
import type { WallImages } from '../wall/wall-image.ts'

/** `readEdit`, `readAreaEdit` and `readPainterNaming` are HTTP's own readers of what is signed, so that both edges take and refuse the same. */
export type McpDeps = PreviewDeps &
  SigningHelp &
  MyWallDeps & {
    readonly findSpace: FindSpace
    readonly sellTo: SellTo
    readonly ledger: Offering['ledger']
    readonly limits: RateLimits
    readonly seller: Seller
    readonly blocks: Blocks
    readonly editing: EditDeps
    readonly images: WallImages
    readonly readEdit: (value: unknown) => EditBody | Failure
    readonly readAreaEdit: (value: unknown) => EditAreaBody | Failure
    readonly readPainterNaming: (value: unknown) => PainterBody | Failure
    readonly registering: Registering
  }
