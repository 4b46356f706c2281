/** What the tools work with: the use cases HTTP serves, and what they read from. */

import type { PainterBody } from '../../shared/contract/agent.ts'
import type { EditAreaBody } from '../../shared/contract/area.ts'
import type { EditBody } from '../../shared/contract/block.ts'
import type { Failure } from '../domain/failure.ts'
import type { Blocks } from '../ports.ts'
import type { Seller } from '../purchase/seller.ts'
import type { EditDeps } from '../usecases/edit-block.ts'
import type { FindSpace } from '../usecases/find-space.ts'
import type { SellTo } from '../usecases/limited-seller.ts'
import type { MyWallDeps } from '../usecases/my-wall.ts'
import type { Offering } from '../usecases/offer-area.ts'
import type { PreviewDeps } from '../usecases/preview-block.ts'
import type { RateLimits } from '../usecases/rate-limits.ts'
import type { Registering } from '../usecases/register-agent.ts'
import type { SigningHelp } from '../usecases/signing-message.ts'
import type { WallImages } from '../usecases/wall-image.ts'

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
